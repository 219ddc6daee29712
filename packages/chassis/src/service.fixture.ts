import { z } from 'zod';
import { Refused, runService } from './index.ts';

/** A service for tests that ends in the given way: `stopped`, `fails`, `ends`, `refused`, `throws`, `hangs`. */
const closing = (name: string) => ({
  [Symbol.asyncDispose]: async () => {
    process.stdout.write(`closed ${name}\n`);
  },
});

await runService(process.env, {
  name: 'fixture',
  config: z.object({ FATE: z.enum(['stopped', 'fails', 'ends', 'refused', 'throws', 'hangs']) }),
  async start({ config, count, signal, use }) {
    await use(closing('first'));
    await use(closing('second'));
    if (config.FATE === 'hangs')
      await use({ [Symbol.asyncDispose]: () => new Promise<void>(() => setInterval(() => {}, 1000)) });
    signal.addEventListener('abort', () => process.stdout.write('asked to stop\n'));
    if (config.FATE === 'refused') throw new Refused('Set a name.');
    if (config.FATE === 'throws') setImmediate(() => Promise.reject(new Error('thrown in passing')));
    if (config.FATE === 'fails')
      return { part: { ready: () => true, finished: Promise.reject(new Error('part broke')) } };
    if (config.FATE === 'ends') return { part: { ready: () => true, finished: Promise.resolve() } };
    count('records_read', 3, 'part');
    count('warrants', 1, 'regex');
    const status = () => [{ partition: 2, phase: 'running' as const, lag: 5, time: 1500, watched: 500 }];
    return { part: { ready: () => true, status } };
  },
});
