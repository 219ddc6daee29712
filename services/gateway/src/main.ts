import { runService } from '@vigil/chassis';
import { gateway } from './service.ts';

await runService(process.env, gateway);
