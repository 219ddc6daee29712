import { describe, expect, test } from 'vitest';
import { FLAGGED, judged, type Made, times, Values } from './values.fixture.ts';

const bash = (command: string, result: unknown, more: Partial<Made> = {}): Made => ({
  tool: 'Bash',
  args: { command },
  result,
  ...more,
});
const fails = (command: string, result: unknown): Made => bash(command, result, { err: true });
const edit = (from: string, to: string): Made => ({
  tool: 'Edit',
  args: { file_path: 'a.ts', old_string: from, new_string: to },
  result: 'done',
  mutating: true,
});
const mcp = (tool: string, args: unknown, result: unknown): Made => ({ tool: `mcp__${tool}`, args, result });
const pod = (v: Values): string =>
  `api-${v.from('bcdfghjklmnpqrstvwxz2456789', 9)}-${v.from('bcdfghjklmnpqrstvwxz2456789', 5)}`;

/** A round of a loop: its calls, which bring nothing new although some of their values differ. */
type Round = (v: Values) => readonly Made[];

const LOOPS: Readonly<Record<string, Round>> = {
  'kubectl get pods of a crash loop': (v) => [
    bash('kubectl get pods', `NAME READY STATUS\n${pod(v)} 0/1 CrashLoopBackOff`),
  ],
  'kubectl logs of one error': (v) => [bash('kubectl logs api', `${v.iso()} panic: no such column "a"`)],
  'kubectl get pods with its restarts': (v) => [
    bash('kubectl get pods', `NAME READY STATUS RESTARTS AGE\napi 0/1 Error ${v.below(90)} (${v.below(50)}s ago) 5h`),
  ],
  'a unit that systemd starts again': (v) => [
    bash(
      'journalctl -n1 -u a',
      `Nov 27 ${v.iso().slice(11, 19)} host systemd[1]: a.service: Scheduled restart job, restart counter is at ${v.below(900)}.`,
    ),
  ],
  'headers of a limited service': (v) => [
    bash(
      'curl -si a.test',
      `HTTP/2 404\ndate: ${v.time().toUTCString()}\nage: ${v.below(90)}\nx-ratelimit-remaining: ${v.below(5000)}\nx-request-id: ${v.uuid()}`,
    ),
  ],
  'headers of a limited service in an object': (v) => [
    mcp(
      'fetch',
      { url: 'a' },
      { status: 404, headers: { 'x-ratelimit-remaining': v.below(5000), 'x-ratelimit-used': v.below(5000) } },
    ),
  ],
  'a spinner that is stopped anywhere': (v) => [
    fails('npx build', `${v.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏', 1)} Resolving\nerror: no network`),
  ],
  'terraform apply with a held lock': (v) => [
    fails('terraform apply', `Error acquiring the state lock\n  ID: ${v.uuid()}\n  Created: ${v.iso()}`),
  ],
  'terraform plan without changes': () => [bash('terraform plan', 'No changes. Your infrastructure matches.')],
  'npm install with one conflict': (v) => [
    fails(
      'npm install',
      `npm error ERESOLVE\nnpm error A complete log: /root/.npm/_logs/${v.iso().replaceAll(/[:.]/g, '_')}-debug-0.log`,
    ),
  ],
  'pytest -x with one failure': (v) => [
    fails('pytest -x', `FAILED test_a.py::test_one - assert 1 == 2\n1 failed in ${v.seconds()}s`),
  ],
  'curl of a job with one state': (v) => [
    bash(
      'curl -s localhost/jobs/7',
      JSON.stringify({ id: 7, state: 'queued', updated_at: v.iso(), request_id: v.uuid() }),
    ),
  ],
  'git pull without news': () => [bash('git pull', 'Already up to date.')],
  'git push that is rejected': () => [fails('git push', '! [rejected] main -> main (fetch first)')],
  'git status after git add': () => [bash('git add -A', ''), bash('git status -s', 'M a.ts')],
  'sed of one range': () => [bash("sed -n '1,40p' a.ts", 'const a = 1;')],
  'grep without a match': () => [fails('grep -rn needle src', '')],
  'a failing compiler whose errors alternate': () => [
    fails('tsc', 'a.ts(9,2): error A'),
    fails('tsc', 'a.ts(1,2): error B'),
  ],
  'an edit back and forth': () => [edit('x', 'y'), fails('tsc', 'error A'), edit('y', 'x'), fails('tsc', 'error B')],
  'a write of the same file and a test': (v) => [
    { tool: 'Write', args: { file_path: 'a.ts', content: 'x' }, result: 'written', mutating: true },
    fails('npm test', `1 failed in ${v.seconds()}s`),
  ],
  'a tool of MCP with one cursor': () => [mcp('list', { cursor: 'abc' }, { items: ['a'], next_cursor: 'abc' })],
  'a tool of MCP that refuses': (v) => [
    { ...mcp('query', { sql: 'select 1' }, `denied (trace ${v.hex(32)})`), err: true },
  ],
  'a click with one snapshot': () => [mcp('browser_click', { ref: 'e12' }, '- button "Send" [ref=e12]')],
  'a click and a snapshot': () => [
    mcp('browser_click', { ref: 'e12' }, 'clicked'),
    mcp('browser_snapshot', {}, '- button "Send" [ref=e12]'),
  ],
  'a screenshot of one page': () => [mcp('browser_take_screenshot', {}, 'iVBORw0KGgo='.repeat(40))],
  'docker compose ps': () => [bash('docker compose ps', 'db  starting')],
  'docker build with one error': (v) => [
    fails('docker build .', `#9 ${v.seconds()} E: Unable to locate package foo\nERROR: exit code: 100`),
  ],
  'docker run of a name in use': (v) => [
    fails('docker run --name a b', `Conflict. The name "/a" is in use by container "${v.hex(64)}".`),
  ],
  'a port in use': (v) => [fails('npm start', `${v.iso()} Error: listen EADDRINUSE: address already in use :::3000`)],
  'a database that refuses': (v) => [
    fails('psql -c "select 1"', `connection to 127.0.0.1, port ${5432} failed (pid ${v.below(60_000)})`),
  ],
  'make with nothing to do': () => [bash('make', "make: Nothing to be done for 'all'.")],
  'cargo test with one failure': (v) => [fails('cargo test', `test a ... FAILED\nfinished in ${v.seconds()}s`)],
  'go vet with one address': (v) => [
    fails('go run .', `panic: runtime error [signal SIGSEGV addr=0x${v.hex(6)}a1 pc=0x${v.hex(6)}b2]`),
  ],
  'a python traceback': (v) => [fails('python a.py', `KeyError: 'a' in <App object at 0x7f${v.hex(10)}>`)],
  'an empty read': () => [{ tool: 'Read', args: { file_path: 'a.ts', offset: 900 }, result: '' }],
  'three reads in turn': () =>
    ['a', 'b', 'c'].map((k) => ({ tool: 'Read', args: { file_path: k }, result: `text of ${k}` })),
  'a search on the web': (v) => [mcp('web_search', { query: 'vigil' }, { results: ['a', 'b'], took_ms: v.below(900) })],
  'a fetch that is forbidden': () => [{ ...mcp('fetch', { url: 'https://a.test' }, '403 Forbidden'), err: true }],
  'a todo list written again': () => [{ tool: 'TodoWrite', args: { todos: ['a'] }, result: 'ok', mutating: true }],
  'an agent that asks another': (v) => [mcp('task', { prompt: 'review' }, { verdict: 'RETRY', session_id: v.uuid() })],
  'a message that is not delivered': (v) => [
    { ...mcp('send', { to: 'a', text: 'x' }, { error: 'offline', message_id: v.uuid() }), err: true },
  ],
  'a lock file': (v) => [
    fails('apt-get install foo', `Could not get lock. It is held by process ${v.below(60_000)} (apt-get)`),
  ],
  'an ssh time-out': () => [fails('ssh host true', 'ssh: connect to host host port 22: Connection timed out')],
  'a helm release that is pending': (v) => [
    fails('helm upgrade a .', `${v.iso()} Error: another operation is in progress`),
  ],
  'ls and pwd in turn': () => [bash('ls', 'a.ts'), bash('pwd', '/work')],
};

describe.each(Object.entries(LOOPS))('a loop: %s', (_, round) => {
  test('is found by the fifth repetition', () => {
    for (const seed of [21, 22, 23]) {
      const values = new Values(seed);
      const calls = times(5, () => round(values)).flat();
      expect(FLAGGED, `seed ${seed}`).toContain(judged('vigil', calls).worst);
    }
  });
});

const WORK: Readonly<Record<string, (v: Values) => readonly Made[]>> = {
  'a watch of pods that become ready': () =>
    times(9, (i) =>
      bash('kubectl get pods', times(9, (k) => `api-${k} ${k < i ? '1/1 Running' : '0/1 Pending'}`).join('\n')),
    ),
  'kubectl rollout status': () =>
    times(12, (i) => bash('kubectl rollout status d/a', `${i} of 12 updated replicas are available`)),
  'terraform apply that creates one after another': () =>
    times(12, (i) => bash('tail -1 apply.log', `aws_instance.a[${i}]: Creation complete after ${30 + i}s`)),
  'terraform apply that is polled': () =>
    times(12, (i) => bash('sleep 30; tail -1 apply.log', `Still creating... [${i}m0s elapsed]`, { polling: true })),
  'npm install with its counts': () => times(12, (i) => bash('tail -1 npm.log', `added ${i * 40} packages`)),
  'pytest -x with another failure each time': (v) =>
    times(12, (i) => [
      edit(`a${i}`, `b${i}`),
      fails('pytest -x', `FAILED test_a.py::test_${'abcdefghijkl'[i]} in ${v.seconds()}s`),
    ]).flat(),
  'pytest with fewer failures': (v) => times(12, (i) => fails('pytest', `${20 - i} failed in ${v.seconds()}s`)),
  'curl of a job with its share': (v) =>
    times(20, (i) =>
      bash('curl -s localhost/jobs/7', JSON.stringify({ state: 'running', progress: i * 5, request_id: v.uuid() })),
    ),
  'curl of a job with another step': (v) =>
    times(9, (i) => bash('curl -s localhost/jobs/7', JSON.stringify({ step: 'abcdefghi'[i], updated_at: v.iso() }))),
  'git pull with news': (v) => times(9, () => bash('git pull', `Updating ${v.hex(6)}1..${v.hex(6)}2\nFast-forward`)),
  'git fetch of new commits': (v) =>
    times(9, () => bash('git fetch', `   ${v.hex(6)}1..a${v.hex(5)}2  main -> origin/main`)),
  'git rev-parse while a bisection runs': (v) => times(9, () => bash('git rev-parse HEAD', `${v.hex(39)}a\n`)),
  'git bisect run, one step after another': (v) =>
    times(8, (i) => bash('git bisect bad', `Bisecting: ${2 ** (8 - i)} revisions left to test\n[${v.hex(39)}a] wip`)),
  'sed of one range after another': () =>
    times(20, (i) => bash(`sed -n '${i * 40},${i * 40 + 40}p' a.ts`, 'const a = 1;')),
  'grep of other words': (v) => times(20, () => bash(`grep -rn ${v.from('abcdefgh', 6)} src`, '')),
  'a file in pages': () =>
    times(20, (i) => ({ tool: 'Read', args: { file_path: 'a.ts', offset: i * 100 }, result: `text ${i}` })),
  'retries with growing pauses': (v) =>
    times(8, (i) => bash(`sleep ${2 ** i}; curl -s a.test`, `503 ${v.iso()}`, { polling: true })),
  'errors of a compiler that are repaired': () =>
    times(12, (i) => [edit(`a${i}`, `b${i}`), fails('tsc', `a.ts(${i},2): error ${i % 2 ? 'A' : 'B'}`)]).flat(),
  'cursors of a tool of MCP in its answers': (v) =>
    times(12, () => mcp('next', {}, { items: times(3, () => v.from('abcdef', 8)), next_cursor: v.hex(16) })),
  'cursors of a tool of MCP in its arguments': (v) =>
    times(12, (i) => mcp('list', { cursor: v.hex(16), limit: 50 }, i < 11 ? ['x'] : [])),
  'clicks with another snapshot each time': () =>
    times(12, (i) => mcp('browser_click', { ref: 'next' }, `- heading "Page ${'abcdefghijkl'[i]}"`)),
  'scrolls of a page': () => times(12, (i) => mcp('browser_press_key', { key: 'PageDown' }, `y=${i * 600}`)),
  'keys that are typed': () => times(12, (i) => mcp('browser_type', { text: 'abcdefghijkl'[i] }, 'typed')),
  'ffmpeg with its position': () =>
    times(20, (i) => bash('tail -c 60 ffmpeg.log', `time=00:00:${10 + i}.34 bitrate=N/A speed=2x`)),
  'a player with its position': () => times(20, (i) => bash('playerctl status', `[00:01:${10 + i}/00:20:00] playing`)),
  'a rendering with its frames': (v) =>
    times(20, (i) => bash('tail -1 render.log', `Fra:${i} Mem:120M | Time:00:0${i % 6}.${10 + v.below(80)}`)),
  'checksums of a growing file': (v) => times(9, () => bash('sha256sum out.bin', `${v.hex(63)}a  out.bin`)),
  'addresses in pages': (v) =>
    times(12, () => bash('./next-hosts', times(3, () => `10.${v.below(250)}.${v.below(250)}.1`).join('\n'))),
  'ids in pages': (v) => times(12, () => bash('./next-ids', times(3, () => `${v.hex(30)}a1`).join('\n'))),
  'rsync with its share': () => times(20, (i) => bash('tail -1 rsync.log', `${i * 1000} ${i * 5}% 12.3MB/s`)),
  'a docker build with its steps': () => times(12, (i) => bash('tail -1 build.log', `Step ${i}/12 : RUN make`)),
  'a queue that empties': () => times(12, (i) => mcp('queue_depth', {}, { depth: 120 - i * 9 })),
  'a vacuum with its pages': () => times(12, (i) => bash('psql -c "select heap_blks_scanned from p"', `${i * 100}`)),
  'a search over seeds': () => times(12, (i) => bash(`./train --seed ${i}`, 'accuracy 0.91')),
  'new items of a feed': (v) => times(12, () => mcp('feed', {}, [{ id: v.uuid(), title: v.from('abcdefgh', 9) }])),
  'tests that pass one package after another': (v) => times(12, (i) => bash(`go test ./p${i}`, `ok ${v.seconds()}s`)),
  'commits of one file after another': (v) =>
    times(9, (i) => [
      edit(`a${i}`, `b${i}`),
      bash('git commit -am wip', `[main ${v.hex(6)}1] wip`, { mutating: true }),
    ]).flat(),
  'a helm rollout that is waited for': () =>
    times(12, () => bash('helm upgrade a . --wait', 'pending', { polling: true })),
  'formatting after each edit': () =>
    times(12, (i) => [edit(`a${i}`, `b${i}`), bash('biome check', 'No fixes')]).flat(),
  'a countdown of a lease': () => times(12, (i) => bash('./lease', `${120 - i * 9} s remaining`)),
};
/** CODITECT's source ends an agent after three failures in a row, also a working one. */
const byItsSource = (signals: readonly string[]): boolean => signals.join() === 'consecutive_failures';

test.each(Object.entries(WORK))('work: %s is never STUCK or FAILING', (_, make) => {
  for (const seed of [21, 22, 23])
    for (const preset of ['vigil', 'coditect'] as const) {
      const found = judged(preset, make(new Values(seed))).changes.filter(({ to }) => FLAGGED.includes(to));
      expect(preset === 'vigil' ? found : found.filter(({ signals }) => !byItsSource(signals))).toEqual([]);
    }
});

const NOW = Date.UTC(2026, 10, 27, 12);
const timed = (results: (i: number) => string) =>
  times(12, (i) => ({ ...bash('tail -1 import.log', results(i)), ts: NOW + i * 5000 }) as Made);

test('an import that comes to later and later old dates is work, and a log with the present time only is a loop', () => {
  const iso = (ms: number) => new Date(ms).toISOString();
  const old = timed((i) => `imported until ${iso(NOW - (400 - i) * 86_400_000)}`);
  expect(FLAGGED).not.toContain(judged('vigil', old).worst);
  expect(FLAGGED).toContain(
    judged(
      'vigil',
      timed((i) => `${iso(NOW + i * 5000)} waiting`),
    ).worst,
  );
});
