import { runService } from '@vigil/chassis';
import { alerting } from './service.ts';

await runService(process.env, alerting);
