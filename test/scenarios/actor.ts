import { takeUp } from './craft.ts';
import { meddled } from './parts/meddled.ts';
import { noisy } from './parts/noisy.ts';
import { silent } from './parts/silent.ts';
import { unsaved } from './parts/unsaved.ts';
import { worn } from './parts/worn.ts';

/** An agent on the stage: `actor.ts <part> <folder>`. */
takeUp();
await { ...silent, ...noisy, ...worn, ...unsaved, ...meddled }[process.argv[2] ?? '']?.();
