import { runService } from '@vigil/chassis';
import { projector } from './service.ts';

await runService(process.env, projector);
