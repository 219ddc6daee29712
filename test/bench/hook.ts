import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RUNS } from './support/ground.ts';
import { type Figure, print, quantile, report } from './support/report.ts';

/**
 * Measures the cost of a hook at each step of a session: its own time, from its first line to its end, and that of the
 * whole process. An empty process is measured for comparison. First without other work, then beside busy processes that
 * make a load of eight.
 */
const HOOKS = 100;
const BUSY = 8;
const vigil = path.resolve(import.meta.dirname, '../../packages/dev/bootstrap/vigil.mjs');
const dir = mkdtempSync(path.join(tmpdir(), 'vigil-bench-'));
const debug = path.join(dir, 'debug.jsonl');

const call = { session_id: 's-1', tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 'call-1' };
const before = JSON.stringify({ ...call, hook_event_name: 'PreToolUse' });
/** The longest output of a command that Claude Code keeps. */
const stdout = Array.from(
  { length: 500 },
  (_, n) => `line ${n}: a test has passed in ${n} ms, 0x${n.toString(16)}`,
).join('\n');
const after = JSON.stringify({ ...call, hook_event_name: 'PostToolUse', tool_response: { stdout, stderr: '' } });

/** Milliseconds. */
const timed = async (words: readonly string[], input: string, env: Record<string, string>): Promise<number> => {
  const since = performance.now();
  const child = spawn(process.execPath, words, { env, stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin?.end(input);
  await new Promise((resolve) => child.on('exit', resolve));
  return performance.now() - since;
};

const ownTimes = (): readonly number[] =>
  readFileSync(debug, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { ms: number }).ms);

type Times = { readonly own: readonly number[]; readonly whole: readonly number[]; readonly empty: readonly number[] };

const timesOf = async (input: string, env: Record<string, string>): Promise<Times> => {
  rmSync(debug, { force: true });
  const [whole, empty]: [number[], number[]] = [[], []];
  for (let hook = 0; hook < HOOKS; hook += 1) {
    whole.push(await timed([vigil, 'hook', '--client', 'claude-code'], input, { ...env, VIGIL_HOOK_DEBUG: debug }));
    empty.push(await timed(['-e', '0'], '', {}));
  }
  return { own: ownTimes(), whole, empty };
};

const measured = async (name: string, input: string, env: Record<string, string>): Promise<readonly Figure[]> => {
  const runs: Times[] = [];
  await timed([vigil, 'hook', '--client', 'claude-code'], input, env);
  for (let run = 1; run <= RUNS; run += 1) {
    runs.push(await timesOf(input, env));
    print(`${name}, run ${run} of ${RUNS}`);
  }
  return [50, 99].flatMap((percent): readonly Figure[] => {
    const each = (of: keyof Times): readonly number[] => runs.map((times) => quantile(times[of], percent / 100));
    const reference = { name: 'node -e 0', runs: each('empty') };
    return [
      { name: `${name}: own time, p${percent}`, unit: 'ms', runs: each('own') },
      { name: `${name}: the whole process, p${percent}`, unit: 'ms', runs: each('whole'), reference },
    ];
  });
};

/** Eight processes that use a core each, until disposal. */
const busyMachine = (): Disposable => {
  const busy = Array.from({ length: BUSY }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  const end = (): void => {
    for (const one of busy) one.kill('SIGKILL');
  };
  return { [Symbol.dispose]: end };
};

const socket = path.join(dir, 'agent.sock');
const spool = path.join(dir, 'spool');
const supervisor = createServer((client) => {
  client.on('error', () => {}).on('data', () => client.write('{"hook":{"texts":0,"refusal":null}}\n'));
});
await new Promise<void>((resolve) => supervisor.listen(socket, resolve));

const withSupervisor = { VIGIL_SOCKET: socket, VIGIL_SPOOL: spool };
const withoutSupervisor = { VIGIL_SOCKET: path.join(dir, 'none.sock'), VIGIL_SPOOL: spool };
const all = async (where: string): Promise<readonly Figure[]> => [
  ...(await measured(`${where}before a call`, before, withSupervisor)),
  ...(await measured(`${where}after a call, 20 KB of output`, after, withSupervisor)),
  ...(await measured(`${where}with Vigil down`, after, withoutSupervisor)),
];
const underLoad = async (): Promise<readonly Figure[]> => {
  using _ = busyMachine();
  return await all(`load ${BUSY}, `);
};

const figures = [...(await all('')), ...(await underLoad())];
supervisor.close();
rmSync(dir, { recursive: true, force: true });
report('hook', figures);
