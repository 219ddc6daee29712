import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCluster, ownServers, soak } from '../support/system.ts';
import {
  deadLetters,
  doneTwice,
  falselyFlagged,
  foldedAgain,
  misremembered,
  notFound,
  observedOnce,
} from './findings.ts';
import { type Evidence, hold, type Trial } from './trial.ts';

/** Each fault on three brokers waits until all replicas are in sync, and each read for the broker's rebalance delay. */
export const TRIAL_MS: number = soak(isCluster ? 1_800_000 : 900_000, 3_600_000);

/** Runs a trial, and checks the rules that hold after any fault. `further`: more checks of this one. */
export const judge = (trial: Trial, limitMs: number, further: (evidence: () => Evidence) => void): void => {
  describe.skipIf(!ownServers)(trial.name, () => {
    let evidence: Evidence;
    beforeAll(async () => {
      evidence = await hold(trial);
    }, limitMs);
    afterAll(async () => {
      if (evidence === undefined) return;
      const { versions, restarts, seed, faults, herd, on } = evidence;
      const { events, keys, gaps, repeats } = versions;
      const figures = { seed, faults: faults.length, heartbeats: herd.heartbeats(), events, keys, gaps: gaps.length };
      console.log(JSON.stringify({ trial: trial.name, ...figures, repeats: repeats.length, restarts }));
      await on.stop();
    });

    test('versions have neither gaps nor repeats, for every key of every decider over all its topics', () => {
      const { gaps, repeats, events } = evidence.versions;
      expect({ gaps, repeats }).toEqual({ gaps: [], repeats: [] });
      expect(events).toBeGreaterThan(herdSize(evidence));
    });

    test('the state of each key is that of the last written event', async () => {
      expect(await misremembered(evidence)).toEqual([]);
    });

    test('every heartbeat and every end became one observation', async () => {
      const { reported, lost, doubled } = await observedOnce(evidence.on);
      expect({ lost, doubled }).toEqual({ lost: [], doubled: [] });
      expect(reported).toBeGreaterThan(herdSize(evidence));
    });

    test('folding the observations again gives the recorded decisions, event for event', async () => {
      const { again, recorded } = await foldedAgain(evidence.on);
      expect(again.size).toBeGreaterThan(0);
      for (const [key, decisions] of again) expect(recorded.get(key), key).toEqual(decisions);
      expect([...recorded.keys()].filter((key) => !again.has(key))).toEqual([]);
    });

    test('only failing agents are judged unhealthy, and all of those are found', async () => {
      expect(await falselyFlagged(evidence)).toEqual([]);
      expect(await notFound(evidence)).toEqual([]);
    });

    test('no effect happens twice', async () => {
      const twice = Object.entries(await doneTwice(evidence)).filter(([, keys]) => keys.length > 0);
      expect(twice).toEqual([]);
      expect([...evidence.herd.executor.done.values()].filter((times) => times > 1)).toEqual([]);
    });

    test('there is no dead letter', async () => expect(await deadLetters(evidence.on)).toEqual([]));

    test('the read model equals a fresh projection of the same topics', () => {
      const { projected, fresh } = evidence.rows;
      const { heartbeat_minutes: minutes = [], ...others } = fresh;
      for (const [table, rows] of Object.entries(others)) expect(projected[table], table).toEqual(rows);
      // The running projector may have dropped minutes of healthy agents by now; it has no others.
      expect(minutes).toEqual(expect.arrayContaining([...(projected.heartbeat_minutes ?? [])]));
    });

    test('no transaction hangs, and no service refuses to run', () => {
      expect(evidence.unstable).toEqual([]);
      expect(evidence.refused).toEqual([]);
    });

    further(() => evidence);
  });
};

const herdSize = ({ herd }: Evidence): number => herd.agents.length;
