import { runService } from '@vigil/chassis';
import { dashboard } from './service.ts';

await runService(process.env, dashboard);
