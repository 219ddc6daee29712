import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { moveLeaders, reassign, untilWhole } from '../support/cluster.ts';
import { type Faults, freezeBroker, killBroker, restartBroker, shuffled } from '../support/faults.ts';
import { isCluster, soak, type TestSystem } from '../support/system.ts';
import { judge, TRIAL_MS } from './judged.ts';

const KILLS = soak(2, 10);
const STOPS = soak(1, 10);
const MOVES = soak(2, 10);

type Inject = (faults: Faults, on: TestSystem) => Promise<unknown>;
const ofOne: readonly Inject[] = [
  ...Array<Inject>(KILLS).fill((faults, { servers }) => killBroker(faults, servers.brokers)),
  ...Array<Inject>(STOPS).fill((faults, { servers }) => freezeBroker(faults, servers.brokers)),
];
const ofSeveral: readonly Inject[] = [
  (faults, { servers }) => restartBroker(faults, servers.brokers),
  ...Array<Inject>(MOVES).fill((faults, { placement }) => moveLeaders(faults, placement)),
  ...Array<Inject>(MOVES).fill((faults, { placement }) => reassign(faults, placement)),
];
const LIST = [...ofOne, ...(isCluster ? ofSeveral : [])];

judge(
  {
    name: 'the broker killed and stopped',
    herd: {
      straight: 70,
      throughHttp: 10,
      behaviours: { silent: soak(8, 24), crashes: soak(4, 12), loops: 0 },
      fromMs: 3000,
      overMs: soak(28_000, 200_000),
    },
    inject: async (on, _, faults) => {
      for (const inject of shuffled(LIST, faults.random)) {
        await sleep(2000 + faults.random() * 4000);
        await inject(faults, on);
        if (isCluster) await untilWhole(on.placement);
      }
    },
  },
  TRIAL_MS,
  (evidence) => {
    test('the broker was ended and stopped as often as planned', () =>
      expect(evidence().faults).toHaveLength(LIST.length));
  },
);
