import { endWhenFrozen } from './event-loop.ts';

/** Freezes its event loop, or ends by itself. */
await using _watch = endWhenFrozen('fixture', 600);
process.stdout.write('started\n');
if (process.env.END === 'frozen') for (;;);
