import { runService } from '@vigil/chassis';
import { recovery } from './service.ts';

await runService(process.env, recovery);
