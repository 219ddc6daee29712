import { runService } from '@vigil/chassis';
import { heartbeatIngest } from './service.ts';

await runService(process.env, heartbeatIngest);
