import { loadPolicy } from '@vigil/policy';
import { expect, test } from 'vitest';
import { readRun } from '../recorded/run.ts';
import { logSource } from '../replay/log-source.ts';
import { EvaluatorOnLog } from '../replay/replay.fixture.ts';
import { VOCABULARY } from '../vocabulary.ts';
import type { Work } from './findings.ts';
import { changedDocument } from './limits.ts';
import { worksOfSpan } from './span-works.ts';
import { type Tuning, tune } from './tune.ts';
import { worksOfRuns } from './work.ts';

const policyOf = (signals: string, states = '{ STUCK: [limit] }') =>
  loadPolicy(`policy: mine\nsignals: { limit: ${signals} }\nstates: ${states}\n`, 'mine.yaml', VOCABULARY);

const NO_HASHES = () => ({ args_hash: null, result_hash: null, masked_result_hash: null });

type Call = { readonly tool?: string; readonly takes: number; readonly deadline?: number };

let made = 0;
/** A run whose calls follow each other after a second each. */
const run = (calls: readonly Call[], more: object = {}): Work => {
  made += 1;
  let at = 0;
  const recorded = calls.map(({ tool = 'Bash', takes, deadline }, i) => {
    const started_at = at + 1;
    at = started_at + takes;
    const declared = deadline === undefined ? {} : { deadline_at: started_at + deadline };
    return {
      tool,
      args: `${made}/${i}`,
      result: `${i}`,
      err: false,
      started_at,
      ts: at,
      token_count: 100 * (i + 1),
      ...declared,
    };
  });
  return worksOfRuns(NO_HASHES, 5000)(readRun(JSON.stringify({ run_id: `run-${made}`, ...more, calls: recorded })));
};
const short = (n: number): readonly Call[] => Array.from({ length: n }, () => ({ takes: 5 }));
const tuned = (policy: ReturnType<typeof policyOf>, works: readonly Work[], mostWrong = 0): Tuning =>
  tune(policy, works, { mostWrong, onLimit: () => {} });

const OVERDUE = policyOf('{ is: call_overdue, buffer: 0s, default_deadline: { tool: 120s } }');

test('a limit that long calls exceed before they end by themselves is wrong, and the smallest value that none exceeds is proposed', () => {
  const works = [
    ...Array.from({ length: 8 }, () => run(short(6), { success: true })),
    run([{ takes: 5 }, { takes: 250 }, { takes: 5 }], { success: false }),
    run([{ takes: 5 }, { takes: 400 }, { takes: 5 }], { success: true }),
  ];
  const { limits, changes, before, after } = tuned(OVERDUE, works);
  const [limit] = limits;
  expect(limit?.present).toMatchObject({ value: 120_000, findings: 2, wrong: 2, wrongWorks: 2, right: 0 });
  expect(limit?.present.tools).toEqual([{ tool: 'Bash', findings: 2 }]);
  expect(limit?.durations).toMatchObject({ tool: 'Bash', calls: 54, median: 5, longest: 400 });
  // 360 s would be passed by the call of 400 s.
  expect(limit?.proposed).toMatchObject({ value: 480_000, findings: 0 });
  expect(changes).toMatchObject([{ to: 480_000 }]);
  expect([before.wrong, after.wrong]).toEqual([2, 0]);
});

test('a share of wrong findings is allowed', () => {
  const works = [run([{ takes: 250 }]), ...Array.from({ length: 99 }, () => run(short(3)))];
  expect(tuned(OVERDUE, works, 0.01).changes).toEqual([]);
  expect(tuned(OVERDUE, works, 0.009).changes).toMatchObject([{ to: 300_000 }]);
});

test('what a wrong finding would have cost is the work until then', () => {
  const works = [run([...short(4), { takes: 250 }, { takes: 5 }])];
  expect(tuned(OVERDUE, works).limits[0]?.present.cost).toEqual({
    seconds: 24 + 120.001,
    tokens: 400,
    calls: 4,
  });
});

test('a call with its own deadline is not judged by the default one, nor counted as evidence of it', () => {
  const [limit] = tuned(OVERDUE, [run([{ takes: 250, deadline: 600 }, { takes: 130 }])]).limits;
  expect(limit?.present).toMatchObject({ findings: 1, wrong: 1 });
  expect(limit?.durations).toMatchObject({ calls: 1, longest: 130 });
});

const LOOPING = policyOf('{ is: repeated_calls, times: 8 }');
const looping = (times: number, more: object = {}) => {
  made += 1;
  const calls = Array.from({ length: times }, (_, i) => ({
    ...{ tool: 'Bash', args_h: 'a', res_h: 'b', resn_h: 'b', err: false, started_at: 10 * i, ts: 10 * i + 1 },
    token_count: 50 * (i + 1),
  }));
  return worksOfRuns(NO_HASHES, 5000)(readRun(JSON.stringify({ run_id: `loop-${made}`, calls, ...more })));
};

test('a loop that lasts to the end is right, and a smaller limit that is never wrong is proposed because it saves more', () => {
  const works = [looping(30, { success: false }), run(short(20), { success: true })];
  const { limits, changes } = tuned(LOOPING, works);
  const times = limits.find(({ limit }) => limit.path[0] === 'times');
  expect(times?.present).toMatchObject({ value: 8, right: 1, wrong: 0, saved: { calls: 22, tokens: 1100 } });
  expect(times?.proposed?.value).toBeLessThan(8);
  expect(times?.proposed?.saved.calls).toBeGreaterThan(22);
  expect(changes.some(({ limit }) => limit.path[0] === 'times')).toBe(true);
});

test('no smaller limit is proposed if it, or the next smaller one, would be wrong', () => {
  const works = [looping(30, { success: false }), looping(7, { success: true })];
  const times = tuned(LOOPING, works).limits.find(({ limit }) => limit.path[0] === 'times');
  expect(times?.tried.find(({ value }) => value === 6)).toMatchObject({ wrong: 1 });
  expect(times?.proposed).toBeNull();
});

test('a signal that is only DEGRADED is judged, and its limit stays', () => {
  const policy = policyOf(
    '{ is: call_overdue, buffer: 0s, default_deadline: { tool: 120s } }',
    '{ DEGRADED: [limit] }',
  );
  const { limits, changes } = tuned(policy, [run([{ takes: 250 }])]);
  expect(limits[0]?.present.wrong).toBe(1);
  expect(changes).toEqual([]);
});

test('a limit is named if no record has the data of its signal', () => {
  const { limits, unfed } = tuned(policyOf('{ is: no_checkpoint, after: 10m }'), [run(short(3))]);
  expect(limits).toEqual([]);
  expect(unfed).toMatchObject([{ name: 'limit', path: ['after'] }]);
});

test('the proposed document has the new values, also in the exemption that had the same default deadline', () => {
  const written = {
    policy: 'mine',
    signals: { limit: { is: 'call_overdue', default_deadline: { tool: '2m', model: '10m' } } },
    exemptions: { call_in_flight: { default_deadline: { tool: '2m' } }, starting: { grace: '5m' } },
  };
  const { limits } = tuned(OVERDUE, [run(short(1))]);
  const limit = limits[0]!.limit;
  expect(changedDocument(JSON.stringify(written), [{ limit, to: 900_000 }])).toEqual({
    policy: 'mine',
    signals: { limit: { is: 'call_overdue', default_deadline: { tool: '15m', model: '10m' } } },
    exemptions: { call_in_flight: { default_deadline: { tool: '15m' } }, starting: { grace: '5m' } },
  });
});

test('in the history of a log a silence that ended by itself is wrong, and one that a plan acted on is open', async () => {
  const silence = (state: string) =>
    loadPolicy(
      `policy: mine\nheartbeat: { interval: 1s, lost_after: 15s }\nsignals: { limit: { is: no_activity, after: 8s } }\nstates: { ${state}: [limit] }
plans: [{ when: STUCK, do: [alert: { severity: warning }] }]\n`,
      'mine.yaml',
      VOCABULARY,
    );
  const judgedUnder = async (state: string) => {
    const on = new EvaluatorOnLog(1);
    await on.use(silence(state));
    await on.start();
    await on.pass(30, (second) => {
      if (second < 5 || second > 20) on.heartbeat('pauses', second + 1);
    });
    await on.stop();
    const span = { from: null, to: null, agent: null };
    const works = await worksOfSpan(await logSource(on.log, span, () => {}), new AbortController().signal);
    return tuned(silence('STUCK'), works).limits[0]?.present;
  };
  expect(await judgedUnder('DEGRADED')).toMatchObject({ findings: 1, wrong: 1, open: 0 });
  expect(await judgedUnder('STUCK')).toMatchObject({ findings: 1, wrong: 0, open: 1 });
});
