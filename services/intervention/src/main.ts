import { runService } from '@vigil/chassis';
import { intervention } from './service.ts';

await runService(process.env, intervention);
