import { describe, expect, test } from 'vitest';
import { FLAGGED, judged, type Made, times, Values } from './values.fixture.ts';

type Answer = { readonly err?: boolean; readonly result: (values: Values) => unknown };

/** Answers that bring nothing new, with the values of tools of many kinds. */
const NOTHING_NEW: Readonly<Record<string, Answer>> = {
  pytest: { err: true, result: (v) => `========= 3 failed, 41 passed in ${v.seconds()}s =========` },
  'pytest of minutes': { err: true, result: (v) => `=== 3 failed in ${70 + v.below(9)}.21s (0:01:1${v.below(9)}) ===` },
  'go test': {
    err: true,
    result: (v) => `--- FAIL: TestParse (0.0${v.below(9)}s)\nFAIL\texample.com/parse\t${v.seconds()}s`,
  },
  jest: {
    err: true,
    result: (v) => `Tests:       2 failed, 5 passed, 7 total\nTime:        ${v.seconds()} s, estimated 4 s`,
  },
  cargo: { result: (v) => `   Finished \`dev\` profile target(s) in ${1 + v.below(3)}m ${10 + v.below(40)}s` },
  gradle: { err: true, result: (v) => `BUILD FAILED in ${1 + v.below(50)}s\n3 actionable tasks: 3 executed` },
  maven: {
    err: true,
    result: (v) => `[INFO] Total time:  ${v.seconds()} s\n[INFO] Finished at: ${v.iso()}\n[ERROR] broken`,
  },
  npm: {
    err: true,
    result: (v) =>
      `npm error A complete log of this run can be found in: /root/.npm/_logs/${v.iso().replaceAll(/[:.]/g, '_')}-debug-0.log`,
  },
  'a request of a cloud': {
    err: true,
    result: (v) => `An error occurred (AccessDenied): not allowed (RequestId: ${v.uuid()})`,
  },
  'a container': { result: (v) => `Started ${v.hex(64)}` },
  'a status in JSON': {
    result: (v) => ({ id: v.uuid(), status: 'pending', generated_at: v.time().getTime(), duration_ms: v.below(900) }),
  },
  'seconds of an epoch in JSON': {
    result: (v) => ({ status: 'pending', updated: Math.floor(v.time().getTime() / 1000) }),
  },
  'a labelled epoch': { result: (v) => `status=pending ts=${Math.floor(v.time().getTime() / 1000)}` },
  'an epoch with a fraction': {
    err: true,
    result: (v) => `${(v.time().getTime() / 1000).toFixed(6)} ERROR connection refused`,
  },
  'an epoch in brackets': { err: true, result: (v) => `[${Math.floor(v.time().getTime() / 1000)}] connection refused` },
  'a line of syslog': {
    err: true,
    result: (v) => `Nov 27 ${v.iso().slice(11, 19)} host app[${1000 + v.below(60_000)}]: connection refused`,
  },
  'a traceback': {
    err: true,
    result: (v) => `AttributeError: <app.Job object at 0x7f${v.hex(10)}> has no attribute 'run'`,
  },
  'a trace id': { err: true, result: (v) => ({ error: 'internal', trace_id: v.hex(32), span_id: v.hex(16) }) },
  'milliseconds of a log': { result: (v) => `GET /health 503 ${v.below(900)}.${v.below(900)}ms - ${v.iso()}` },
  'a pod': {
    err: true,
    result: (v) =>
      `pod web-${v.from('bcdfghjklmnpqrstvwxz2456789', 10)}-${v.from('bcdfghjklmnpqrstvwxz2456789', 5)} CrashLoopBackOff`,
  },
  'the time of curl': { err: true, result: (v) => `502 Bad Gateway\ntime_total: 0.${v.below(900_000)}` },
};

/** The number of different calls in a round. */
const PERIODS = [1, 2, 3, 5, 8, 12];
const SEEDS = [1, 2, 3];

describe.each(Object.entries(NOTHING_NEW))('answers that differ as those of %s do', (name, { err = false, result }) => {
  test('hide no loop: it is found by the fifth repetition', () => {
    for (const period of PERIODS)
      for (const seed of SEEDS) {
        const values = new Values(seed);
        const calls = times(5 * period, (n) => ({
          tool: 'Bash',
          args: { command: `./step ${n % period}` },
          result: result(values),
          err,
        }));
        expect(FLAGGED, `${name}, period ${period}, seed ${seed}`).toContain(judged('vigil', calls).worst);
      }
  });
});

test('ten digits without a label are a count: such a loop is DEGRADED, a limit that docs/accuracy.md names', () => {
  for (const seed of SEEDS) {
    const values = new Values(seed);
    const calls = times(12, () => ({
      tool: 'Bash',
      args: './step',
      result: `${Math.floor(values.time().getTime() / 1000)} pending`,
    }));
    expect(judged('vigil', calls).worst).toBe('DEGRADED');
  }
});

const bash = (command: string, result: unknown, more: Partial<Made> = {}): Made => ({
  tool: 'Bash',
  args: { command },
  result,
  ...more,
});
const edit = (i: number): Made => ({
  tool: 'Edit',
  args: { file_path: 'a.py', old_string: `x${i}`, new_string: `y${i}` },
  result: 'done',
  mutating: true,
});

/** Work whose answers have such values beside what they bring, or with something done between them. */
const WORK: Readonly<Record<string, (values: Values) => readonly Made[]>> = {
  'the same failing test after each edit': (v) =>
    times(15, (i) => [edit(i), bash('pytest -q', `1 failed in ${v.seconds()}s`, { err: i % 3 === 0 })]).flat(),
  'the same passing test after each edit': (v) =>
    times(15, (i) => [edit(i), bash('pytest -q', `44 passed in ${v.seconds()}s`)]).flat(),
  'fewer failures, with durations': (v) =>
    times(12, (i) => bash('pytest -q', `${12 - i} failed, ${30 + i} passed in ${v.seconds()}s`)),
  'a job that is polled, with its id': (v) =>
    times(40, () => bash('sleep 20; gh run list -L 1', `in_progress ${v.uuid()} ${v.iso()}`, { polling: true })),
  'a job that is looked at after each pause': (v) =>
    times(30, () => [
      bash('sleep 30', '', { polling: true }),
      bash('curl -s localhost/jobs/7', JSON.stringify({ state: 'running', request_id: v.uuid() })),
    ]).flat(),
  'a job with a share of its work': (v) =>
    times(30, (i) => ({ tool: 'job', args: {}, result: { request_id: v.uuid(), done: (i + 1) / 30, at: v.iso() } })),
  'a step of a training with a time': (v) =>
    times(40, (i) =>
      bash('tail -1 train.log', `${v.iso()} step ${i * 100} loss ${(3 / (i + 1)).toFixed(4)} (${v.seconds()}s)`),
    ),
  'epochs of a training with an epoch of Unix': (v) =>
    times(30, (i) => bash('tail -1 train.log', `ts=${Math.floor(v.time().getTime() / 1000)} epoch=${i + 1}/30`)),
  'numbers of submitted jobs': (v) => {
    const first = 8_000 + v.below(1_000);
    return times(12, (i) => bash('sbatch run.sh', `Submitted batch job ${first + i}`));
  },
  'items of a queue': (v) =>
    times(20, () => ({
      tool: 'pop',
      args: {},
      result: { id: v.uuid(), body: `${v.from('abcdefghij', 8)} ${v.from('klmnopq', 7)}` },
    })),
  'migrations one after another': (v) =>
    times(15, () =>
      bash(
        './migrate up 1',
        `Applied 20261127${100_000 + v.below(9_000)}_add_${v.from('abcdefgh', 9)} (${v.below(90)}ms)`,
      ),
    ),
  'shards of a test': (v) => times(12, (i) => bash('./next-shard', `shard ${i + 1}/12: 80 passed in ${v.seconds()}s`)),
  'a download with a speed': (v) =>
    times(25, (i) => bash('tail -1 wget.log', `${i * 4}% [${'='.repeat(i)}>] ${v.below(90)}.1M/s eta ${60 - 2 * i}s`)),
  'new lines of a log': (v) =>
    times(20, () =>
      bash('tail -1 app.log', `${v.iso()} INFO user ${v.from('abcdefghijklm', 7)} signed in (${v.below(90)}ms)`),
    ),
  'files that are compiled one after another': (v) =>
    times(30, (i) => bash(`gcc -c src/${i}.c`, `real 0m${v.seconds()}s`)),
  'rows of a growing table': (v) =>
    times(20, (i) =>
      bash('psql -c "select count(*) from t"', ` count\n-------\n ${1000 + 37 * i}\nTime: ${v.seconds()} ms`),
    ),
  'pages with a cursor and a request id': (v) =>
    times(20, () => ({
      tool: 'list',
      args: { limit: 100 },
      result: { request_id: v.uuid(), count: 100, next_cursor: v.hex(24) },
    })),
  'a service that is tried again after growing pauses': (v) =>
    times(9, (i) => bash(`sleep ${2 ** i}; curl -s localhost:8080`, `refused ${v.iso()}`, { polling: true })),
};

test.each(Object.entries(WORK))('%s is never STUCK or FAILING, under vigil and coditect', (_, make) => {
  for (const seed of [1, 2, 3, 4, 5])
    for (const preset of ['vigil', 'coditect'] as const) {
      const changes = judged(preset, make(new Values(seed))).changes.filter(({ to }) => FLAGGED.includes(to));
      expect(changes, `${preset}, seed ${seed}`).toEqual([]);
    }
});
