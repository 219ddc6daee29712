import { describe, expect, test } from 'vitest';
import { FLAGGED, judged, type Made, times, Values } from './values.fixture.ts';

/** `step`: the call's place in its round; `n`: the number of the round. */
type Loop = {
  readonly err?: boolean;
  readonly call: (values: Values, step: number, n: number) => Pick<Made, 'tool' | 'args' | 'result'>;
};
const epoch = (v: Values): number => Math.floor(v.time().getTime() / 1000);
const bash = (command: string, result: unknown) => ({ tool: 'Bash', args: { command }, result });

/** Loops whose calls or answers differ in what only names a call, or counts the attempts. */
const LOOPS: Readonly<Record<string, Loop>> = {
  'a UUID is all that changes in an object': {
    call: (v, step) => ({ tool: 'status', args: { job: step }, result: { job: { uuid: v.uuid() }, state: 'pending' } }),
  },
  'a UUID in a nested list of errors': {
    err: true,
    call: (v, step) => bash(`./deploy ${step}`, { errors: [{ id: v.uuid(), code: 'E42' }] }),
  },
  'a UUID as a bare string': { call: (v, step) => bash(`./run ${step}`, v.uuid()) },
  'attempts in an object': {
    call: (_, step, n) => ({ tool: 'connect', args: { host: `h${step}` }, result: { ok: false, attempt: n + 1 } }),
  },
  'retries in an object': {
    call: (_, step, n) => ({ tool: 'connect', args: { host: `h${step}` }, result: { status: 'busy', retry_count: n } }),
  },
  'attempts in a text': {
    call: (_, step, n) => bash(`./connect ${step} || true`, `Attempt ${n + 1}: connection refused`),
  },
  'attempts in a failure': {
    err: true,
    call: (_, step, n) => bash(`./connect ${step}`, `connection refused (attempt ${n + 1})`),
  },
  'retries in a failure': {
    err: true,
    call: (_, step, n) => bash(`./connect ${step}`, `retrying... retry #${n + 1} failed: timeout`),
  },
  'an epoch of milliseconds in a text': {
    call: (v, step) => bash(`./poll ${step}`, `no change at ${v.time().getTime()}`),
  },
  'an epoch after "at"': { call: (v, step) => bash(`./poll ${step}`, `no change at ${epoch(v)}`) },
  'an epoch in a list, by the name of a time': {
    call: (v, step) => ({ tool: 'jobs', args: { step }, result: [{ job: 7, poll_ts: epoch(v) }] }),
  },
  'an epoch in an object, by the name of a time': {
    call: (v, step) => ({ tool: 'status', args: { step }, result: { state: 'queued', polled_at: epoch(v) } }),
  },
  'an idempotency key in the arguments': {
    call: (v, step) => ({
      tool: 'fetch',
      args: { url: `https://a.test/${step}`, idempotency_key: v.uuid() },
      result: 'not ready',
    }),
  },
  'a nonce in the arguments': {
    call: (v, step) => ({
      tool: 'fetch',
      args: { url: `https://a.test/${step}`, nonce: v.hex(16) },
      result: 'not ready',
    }),
  },
  'a trace header in a command': {
    err: true,
    call: (v, step) => bash(`curl -s -H "X-Request-Id: ${v.uuid()}" https://a.test/${step}`, '502 Bad Gateway'),
  },
  'a time in a query string': {
    err: true,
    call: (v, step) => bash(`curl -s "https://a.test/${step}?_=${v.time().getTime()}"`, '502 Bad Gateway'),
  },
  'a time in a comment of a command': {
    err: true,
    call: (v, step) => bash(`./build ${step} # ${v.iso()}`, 'error: no such target'),
  },
  'a described command': {
    err: true,
    call: (v, step, n) => ({
      tool: 'Bash',
      args: { command: `./build ${step}`, description: `Try number ${n} at ${v.iso()}` },
      result: 'error: no such target',
    }),
  },
  'an ISO time with a zone and a random port': {
    err: true,
    call: (v, step) =>
      bash(`./dial ${step}`, `${v.iso().replace('Z', '+01:00')} dial tcp 10.0.0.1:${1024 + v.below(60_000)}: refused`),
  },
  'a temporary file and a duration': {
    err: true,
    call: (v, step) =>
      bash(
        `make t${step}`,
        `make: *** [/tmp/tmp.${v.from('abcdefghij', 5)}${v.from('KLMNOP', 5)}/x.o] Error 1 after ${v.seconds()}s`,
      ),
  },
};
const PERIODS = times(12, (i) => i + 1);

describe.each(Object.entries(LOOPS))('a loop in which %s', (name, { call, err = false }) => {
  test('is found by the fifth repetition', () => {
    const missed: string[] = [];
    for (const period of PERIODS)
      for (const seed of [11, 12]) {
        const values = new Values(seed);
        const calls = times(5 * period, (n) => ({ ...call(values, n % period, Math.floor(n / period)), err }));
        const { worst } = judged('vigil', calls);
        if (!FLAGGED.includes(worst)) missed.push(`${period}/${seed} ${worst}`);
      }
    expect(missed, name).toEqual([]);
  });
});

/** Work that repeats. */
const WORK: Readonly<Record<string, (v: Values) => readonly Made[]>> = {
  'losses of a training': (v) =>
    times(30, (i) => bash('tail -n1 train.log', `epoch ${i} loss=${(2 / (i + 2)).toFixed(3)} t=${epoch(v)}`)),
  'a log of iterations with times': (v) =>
    times(30, (i) => bash('tail -n 1 out.log', `[${v.iso()}] iter ${i * 50} grad_norm ${v.seconds()}`)),
  'a bar without figures': () => times(20, (i) => bash('cat progress', `[${'#'.repeat(i)}${'.'.repeat(20 - i)}]`)),
  'a bar with a share': () => times(20, (i) => bash('cat progress', `${5 * i}%|${'█'.repeat(i)}| ${i}/20`)),
  'a shrinking list of failing tests': (v) =>
    times(12, (i) => ({
      ...bash('npm test', times(12 - i, (n) => `FAIL src/${n}.test.ts (${v.seconds()} s)`).join('\n')),
      err: true,
    })),
  'a shrinking list of lint errors in an object': () =>
    times(12, (i) => ({
      ...bash('eslint -f json .', { errors: times(12 - i, (n) => ({ file: `a${n}.ts`, line: 3 })) }),
      err: true,
    })),
  'pages by number in the arguments': () =>
    times(20, (i) => ({ tool: 'list', args: { page: i }, result: { items: times(5, (n) => `row ${5 * i + n}`) } })),
  'pages by number with equal answers in form': (v) =>
    times(20, (i) => ({ tool: 'list', args: { page: i }, result: { items: times(3, () => ({ id: v.uuid() })) } })),
  'a cursor in the arguments': (v) =>
    times(20, () => ({
      tool: 'list',
      args: { cursor: v.hex(20) },
      result: { items: [v.from('abcdef', 9)], next: v.hex(20) },
    })),
  'empty pages on the way': () => times(15, (i) => ({ tool: 'search', args: { page: i }, result: [] })),
  'retries with growing pauses that succeed': (v) => [
    ...times(7, (i) => ({
      ...bash(`sleep ${2 ** i} && curl -sf a.test`, `refused ${v.iso()}`),
      err: true,
      polling: true,
    })),
    bash('curl -sf a.test', 'ok'),
  ],
  'a retry after each pause, then success': (v) => [
    ...times(4, (i) => [
      { ...bash(`sleep ${2 ** i}`, ''), polling: true },
      { ...bash('curl -sf a.test', { request_id: v.uuid(), attempt: i + 1, status: 503 }), err: true },
    ]).flat(),
    bash('curl -sf a.test', 'ok'),
  ],
  'edits of one file': (v) =>
    times(20, (i) => ({
      tool: 'Edit',
      args: { file: 'a.ts', old: `l${i}`, new: v.uuid() },
      result: { ok: true, request_id: v.uuid() },
      mutating: true,
    })),
  'reads of other lines of a file': () =>
    times(20, (i) => ({
      tool: 'Read',
      args: { file: 'a.ts', offset: 100 * i, limit: 100 },
      result: times(3, (n) => `line ${100 * i + n}`).join('\n'),
    })),
  'commits one after another': (v) =>
    times(12, (i) => [
      { ...bash(`edit ${i}`, ''), mutating: true },
      { ...bash('git commit -am wip', `[main ${v.hex(7)}] wip\n 1 file changed`), mutating: true },
    ]).flat(),
  'tickets that are closed one after another': (v) =>
    times(15, (i) => ({
      tool: 'close',
      args: { id: i, request_id: v.uuid() },
      result: { status: 'closed', updated_at: v.iso() },
      mutating: true,
    })),
  'messages of a queue with times': (v) =>
    times(15, (i) => ({
      tool: 'receive',
      args: {},
      result: { message_id: v.uuid(), body: `order ${1000 + i * 7}`, received_at: v.iso() },
    })),
  'a growing file': (v) =>
    times(20, (i) =>
      bash('ls -l out.bin', `-rw-r--r-- 1 a a ${1_600_000_000 + 1_000_003 * i} ${v.iso().slice(0, 16)} out.bin`),
    ),
  'attempts with their number of all': () => times(20, (i) => bash('./status', `attempt ${i + 1} of 20`)),
  'attempts of a search, each with its score': (v) =>
    times(20, (i) => ({ tool: 'try', args: {}, result: { attempt: i, score: v.below(1000) / 1000 } })),
  'traces that are looked up one after another': (v) =>
    times(12, () => ({ tool: 'trace', args: { trace_id: v.hex(32) }, result: 'not found' })),
  'sizes that grow beyond a billion': () =>
    times(15, (i) => ({ tool: 'stat', args: { path: 'a' }, result: { bytes: 1_600_000_000 + 1_000_003 * i } })),
  'a countdown': () => times(20, (i) => bash('./remaining', `${20 - i} tasks left`)),
  'a benchmark with other settings': (v) => times(12, (i) => bash(`bench --threads ${i + 1}`, `${v.seconds()} s`)),
};
/** CODITECT's source ends an agent after three failures in a row, also a working one. */
const byItsSource = (signals: readonly string[]): boolean => signals.join() === 'consecutive_failures';

test.each(Object.entries(WORK))('%s is never STUCK or FAILING', (_, make) => {
  for (const seed of [11, 12, 13])
    for (const preset of ['vigil', 'coditect'] as const) {
      const found = judged(preset, make(new Values(seed))).changes.filter(({ to }) => FLAGGED.includes(to));
      expect(preset === 'vigil' ? found : found.filter(({ signals }) => !byItsSource(signals))).toEqual([]);
    }
});
