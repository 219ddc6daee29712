import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@vigil/dev';
import { expect, test } from 'vitest';
import { addAndRemove, type Faults, freezeAll, freezeBroker, kill, killBroker, shuffled } from '../support/faults.ts';
import type { TestSystem } from '../support/system.ts';
import { judge } from './judged.ts';

const MINUTES = Number(process.env.VIGIL_SOAK_MINUTES ?? 10);
const EVERY_MS = 30_000;
/** The end of a soak: the last deaths are found, all topics are read, and the rows are built again. */
const ENDING_MS = 1_800_000;
/** Longer than the session of 10 s and its rebalance. */
const FROZEN_MS = 13_000;
/** Shorter than the silence that the policy permits. */
const CUT_MS = 5000;

const ALL: readonly ServiceName[] = [
  ...(['heartbeat-ingest', 'health-evaluator', 'intervention', 'recovery'] as const),
  ...(['alerting', 'projector', 'dashboard', 'gateway'] as const),
];
/** A gateway and a dashboard have one port each. */
const MANY: readonly ServiceName[] = ALL.filter((name) => name !== 'gateway' && name !== 'dashboard');

type Fault = (faults: Faults, on: TestSystem) => Promise<unknown>;
const anyOf = (names: readonly ServiceName[], { random }: Faults): ServiceName =>
  names[Math.floor(random() * names.length)] as ServiceName;

/** Killed, stopped, cut off, joined and left by others; the broker killed and stopped. */
const KINDS: readonly Fault[] = [
  (faults, { system }) => kill(faults, system.service(anyOf(ALL, faults))),
  (faults, { system }) => freezeAll(faults, [system.service(anyOf(MANY, faults))], FROZEN_MS),
  (faults, { system }) => freezeAll(faults, [system.service('gateway')], CUT_MS),
  (faults, { system }) => {
    const name = anyOf(MANY, faults);
    return addAndRemove(faults, system, [name], { frozen: [name], frozenMs: FROZEN_MS });
  },
  (faults, { servers }) => killBroker(faults, servers.brokers),
  (faults, { servers }) => freezeBroker(faults, servers.brokers),
];

const DURATION_MS = MINUTES * 60_000;
const COUNT = Math.max(1, Math.floor(DURATION_MS / EVERY_MS) - 1);

judge(
  {
    name: `a fault every 30 s for ${MINUTES} min`,
    herd: {
      straight: 120,
      throughHttp: 40,
      behaviours: { silent: 6 * MINUTES, crashes: 3 * MINUTES, loops: MINUTES },
      fromMs: 5000,
      overMs: DURATION_MS - EVERY_MS,
    },
    inject: async (on, _, faults) => {
      let order: readonly Fault[] = [];
      for (let n = 0; n < COUNT; n++) {
        if (order.length === 0) order = shuffled(KINDS, faults.random);
        const [next, ...rest] = order;
        order = rest;
        const pause = sleep(EVERY_MS);
        await next?.(faults, on);
        console.log(`fault ${n + 1} of ${COUNT}: ${faults.done.at(-1)}`);
        await pause;
      }
    },
  },
  DURATION_MS + ENDING_MS,
  (evidence) => {
    test('as many faults were injected as planned', () =>
      expect(evidence().faults.length).toBeGreaterThanOrEqual(COUNT));
  },
);
