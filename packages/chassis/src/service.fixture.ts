import { z } from 'zod';
import { defineService, Refused, runServices, showFleet } from './index.ts';

/** A service for tests that ends in the given way: `stopped`, `fails`, `ends`, `refused`, `throws`, `hangs`, `waits`. */
const closing = (name: string) => ({
  [Symbol.asyncDispose]: async () => {
    process.stdout.write(`closed ${name}\n`);
  },
});

const fixture = defineService({
  name: 'fixture',
  config: z.object({ END: z.enum(['stopped', 'fails', 'ends', 'refused', 'throws', 'hangs', 'waits']) }),
  async start({ config, count, signal, use }) {
    await use(closing('first'));
    await use(closing('second'));
    if (config.END === 'hangs')
      await use({ [Symbol.asyncDispose]: () => new Promise<void>(() => setInterval(() => {}, 1000)) });
    signal.addEventListener('abort', () => process.stdout.write('asked to stop\n'));
    if (config.END === 'waits') {
      process.stdout.write('waits for a server\n');
      await new Promise<void>(() => setInterval(() => {}, 1000));
    }
    if (config.END === 'refused') throw new Refused('Set a name.');
    if (config.END === 'throws') setImmediate(() => Promise.reject(new Error('thrown in passing')));
    if (config.END === 'fails')
      return { part: { ready: () => true, finished: Promise.reject(new Error('part broke')) } };
    if (config.END === 'ends') return { part: { ready: () => true, finished: Promise.resolve() } };
    count('records_read', 3, { processor: 'part' });
    count('warrants', 1, { axis: 'regex' });
    count('transaction_duration_seconds', 0.004, { processor: 'part' });
    showFleet(async () => ({ agents: [{ value: 3, labels: { state: 'STUCK' } }], cases_open: [] }));
    const reads = { processor: 'part', phase: 'running', lag: 5 } as const;
    const status = () => [{ ...reads, partition: 2, time: 1500, watched: 500, restored: 1, keys: 7 }];
    const reader = { ready: () => true, status: () => [{ ...reads, processor: 'reader', partition: 0 }] };
    return { part: { ready: () => true, status }, reader };
  },
});

/** Another service of the process: it runs until the process stops. */
const neighbour = defineService({
  name: 'neighbour',
  config: z.object({ VIGIL_NEIGHBOUR: z.string().optional() }),
  async start({ env, count, use }) {
    await use(closing(`neighbour ${env.VIGIL_NEIGHBOUR}`));
    count('records_read', 2, { processor: 'other' });
    const status = () => [{ processor: 'other', phase: 'running', lag: 6, partition: 1 } as const];
    return { other: { ready: () => true, status } };
  },
});

const { env } = process;
const services = [{ service: fixture, env }];
await runServices(
  'fixture',
  env.VIGIL_NEIGHBOUR === undefined ? services : [{ service: neighbour, env: { ...env, END: '' } }, ...services],
);
