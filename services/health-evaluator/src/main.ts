import { runService } from '@vigil/chassis';
import { healthEvaluator } from './service.ts';

await runService(process.env, healthEvaluator);
