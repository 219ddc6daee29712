import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from '@vigil/dev';
import { expect, test } from 'vitest';
import { freezeBroker, killBroker, shuffled } from '../support/faults.ts';
import { soak } from '../support/system.ts';
import { judge } from './judged.ts';

const KILLS = soak(3, 10);
const STOPS = soak(3, 10);

judge(
  {
    name: 'the broker killed and stopped',
    herd: {
      straight: 70,
      throughHttp: 10,
      fates: { silent: soak(8, 24), crashes: soak(4, 12), loops: 0 },
      fromMs: 3000,
      overMs: soak(50_000, 200_000),
    },
    befall: async (on, _, faults) => {
      const broker = on.servers.kafka as Broker;
      const list = [...Array(KILLS).fill(killBroker), ...Array(STOPS).fill(freezeBroker)];
      for (const befall of shuffled<typeof killBroker>(list, faults.random)) {
        await sleep(2000 + faults.random() * 4000);
        await befall(faults, broker);
      }
    },
  },
  (evidence) => {
    test('the broker was ended and stopped as often as it was to be', () =>
      expect(evidence().faults).toHaveLength(KILLS + STOPS));
  },
);
