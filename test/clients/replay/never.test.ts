import { adapterNamed } from '@vigil/adapters';
import { presetsWith } from '@vigil/health/fixture';
import { expect, test } from 'vitest';
import { randomFrom } from '../../support/faults.ts';
import { soak } from '../../support/system.ts';
import { sessionOf, type Way } from './session.ts';
import { type Situation, situations } from './situations.ts';
import type { Pace } from './timeline.ts';
import { type Finding, type Step, WatchedSession } from './watched.ts';

/** The short form uses the same random sessions each time, the long form others. */
const seed = Number(process.env.VIGIL_SEED ?? soak(20_261_123, Date.now() % 1_000_000));
const sessions = soak(60, 270);
const SECOND = 1000;
const minute = 60 * SECOND;
const hour = 60 * minute;

type Policy = 'vigil' | 'demo';
/** The limits of the policy, and what its heartbeats are apart. An answer stays below `no_model_answer` with the file read late. */
const paces = {
  vigil: {
    answerMs: 6 * minute - 2.5 * SECOND,
    callMs: 29 * minute,
    personMs: soak(3, 48) * hour,
    intervalMs: 30 * SECOND,
  },
  demo: { answerMs: 5.5 * SECOND, callMs: 9 * minute, personMs: soak(0.5, 2) * hour, intervalMs: 5 * SECOND },
} as const satisfies Record<Policy, Pace & { readonly intervalMs: number }>;

const asSent: Way = { lost: 0, doubled: 0, disordered: 0, late: 0, screen: null };
const ways: readonly Way[] = [
  asSent,
  { ...asSent, disordered: 0.5, doubled: 0.1 },
  { ...asSent, lost: 0.03, disordered: 0.2, doubled: 0.05, late: 0.03 },
  { ...asSent, lost: 0.2, disordered: 0.2, doubled: 0.05, late: 0.1 },
  { ...asSent, disordered: 0.2, screen: { kind: 'unknown' } },
];

const policies = { vigil: presetsWith('vigil'), demo: presetsWith('demo') };

const watch = (policy: Policy, { client, headless }: Situation, steps: readonly Step[], endMs: number) => {
  const adapter = adapterNamed(client);
  if (adapter === undefined) throw new Error(`there is no client ${client}`);
  const watched = new WatchedSession(policies[policy], adapter, headless);
  watched.play(steps, endMs, paces[policy].intervalMs);
  return watched.findings;
};

/**
 * A client shows a retry only on its screen. With an unknown screen it looks as if its model did not answer, and is
 * judged accordingly.
 */
const fits = (situation: Situation, way: Way): boolean => !situation.retries || way.screen === null;

/**
 * A plan other than a pause for a limit asks a person, ends or replaces; a session that works or waits gives no reason
 * for one.
 */
const isWrong = ({ what }: Finding): boolean =>
  what === 'STUCK' || what === 'FAILING' || (what.startsWith('warrant: ') && what !== 'warrant: rate_limited');

test(
  `of ${sessions} random sessions that work or wait none is STUCK, and none gets a warrant (VIGIL_SEED=${seed})`,
  () => {
    const random = randomFrom(seed);
    const wrong: string[] = [];
    const lost: string[] = [];
    for (let index = 0; index < sessions; index += 1) {
      const situation = situations[index % situations.length];
      if (situation === undefined) throw new Error('there are situations');
      const possible = ways.filter((one) => fits(situation, one));
      const way = possible[Math.floor(random() * possible.length)] ?? asSent;
      const at = Math.floor(random() * 2 ** 31);
      for (const policy of ['vigil', 'demo'] as const) {
        const session = sessionOf(situation, paces[policy], way, randomFrom(at));
        lost.push(...session.lost);
        const [found] = watch(policy, situation, session.steps, session.endMs).filter(isWrong);
        if (found !== undefined)
          wrong.push(JSON.stringify({ policy, run: situation.run, ...found, at, lost: `${session.lost}`, way }));
      }
    }
    const kinds = [...Map.groupBy(lost, (name) => name)].map(([name, all]) => `${name} ${all.length}`);
    process.stdout.write(
      `${sessions} sessions under each policy, ${lost.length} hooks lost: ${kinds.sort().join(', ')}\n`,
    );
    expect(wrong).toEqual([]);
    expect(lost.length).toBeGreaterThan(0);
  },
  soak(2, 60) * minute,
);

test('without the hook that reports the start of a call, Gemini CLI is found stuck after the limit at the earliest, and cleared by its next event', () => {
  const situation = situations.find(({ run }) => run === 'gm-bare');
  if (situation === undefined) throw new Error('there is no run gm-bare');
  let flagged = 0;
  for (let at = 1; at <= 20; at += 1) {
    const { steps, endMs } = sessionOf(situation, paces.demo, asSent, randomFrom(at));
    const left = steps.filter((step) => step.kind !== 'hook' || step.payload.hook_event_name !== 'BeforeTool');
    const watched = watch('demo', situation, left, endMs);
    const received = left.flatMap((step) => (step.kind === 'hook' ? [step] : []));
    const stuck = watched.filter(({ what }) => what === 'STUCK');
    for (const { ms } of stuck) {
      expect(received.filter(({ at: began }) => began > ms - 8 * SECOND && began <= ms)).toEqual([]);
      const next = received.find((one) => one.ms > ms);
      expect(watched.find((one) => one.ms > ms && one.what === 'HEALTHY')?.ms).toBe(next?.ms);
    }
    flagged += stuck.length;
  }
  expect(flagged).toBeGreaterThan(0);
});
