import type { ServiceName } from '@vigil/dev';
import { expect, test } from 'vitest';
import { keepMoving } from '../support/cluster.ts';
import { addAndRemove, killAll } from '../support/faults.ts';
import { isCluster, soak } from '../support/system.ts';
import { judge, TRIAL_MS } from './judged.ts';

const ALL: readonly ServiceName[] = [
  'heartbeat-ingest',
  'health-evaluator',
  'intervention',
  'recovery',
  'alerting',
  'projector',
  'dashboard',
  'gateway',
];
const MANY: readonly ServiceName[] = ['heartbeat-ingest', 'health-evaluator', 'intervention', 'recovery', 'projector'];
/** The services that act. An event that a zombie emits twice would have its effect twice. */
const ACTING: readonly ServiceName[] = ['health-evaluator', 'intervention', 'recovery'];
const ROUNDS = soak(1, 12);
const TIMES = soak(1, 4);
/** Longer than the session of 10 s and its rebalance. */
const FROZEN_MS = 13_000;

judge(
  {
    name: 'services killed at random, then joined and left by further instances',
    herd: {
      straight: 80,
      throughHttp: 20,
      behaviours: { silent: soak(6, 24), crashes: soak(4, 16), loops: soak(3, 8) },
      fromMs: 3000,
      overMs: soak(30_000, 300_000),
    },
    inject: async (on, _, faults) => {
      const enough = new AbortController();
      const moving = isCluster ? keepMoving({ ...faults, done: [] }, on.placement, enough.signal) : undefined;
      await killAll(faults, ALL.map(on.system.service), { rounds: ROUNDS, apartMs: 3000 });
      for (let time = 0; time < TIMES; time++)
        await addAndRemove(faults, on.system, MANY, { frozen: ACTING, frozenMs: FROZEN_MS });
      enough.abort();
      await moving;
    },
  },
  TRIAL_MS,
  (evidence) => {
    test('every service was ended as often as planned, and came back', () => {
      const { restarts, faults } = evidence();
      for (const name of ALL) expect(restarts[name], name).toBeGreaterThanOrEqual(ROUNDS);
      expect(faults.filter((fault) => fault.startsWith('kill')).length).toBe(ROUNDS * ALL.length + TIMES);
    });
  },
);
