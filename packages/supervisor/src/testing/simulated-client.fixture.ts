import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A coding agent's client without a model. It works on a task of some steps; each step appends one line to `effects`.
 * It keeps sessions in files, continues one with `--resume ID -- TEXT`, ends on SIGINT, and fails as SIMULATED_FAULTS
 * sets: `3:hang,5:crash` hangs once before the third step and crashes once before the fifth.
 * All its files are in its working directory.
 */
type Fault =
  /** no answer comes */
  | 'hang'
  /** hangs within an answer: something of it was printed */
  | 'hang-midway'
  /** hangs, also when it is resumed */
  | 'hang-again'
  /** hangs, and takes no SIGINT */
  | 'hang-deaf'
  /** hangs, while a tool of it runs in a session of its own */
  | 'hang-tool'
  | 'crash'
  /** stopped, as by SIGSTOP */
  | 'stall'
  /** the model refuses for a while */
  | 'limit';

const steps = Number(process.env.SIMULATED_STEPS ?? '6');
const client = process.env.SIMULATED_CLIENT ?? 'simulated';
const limitMs = Number(process.env.SIMULATED_LIMIT_MS ?? '3000');
const { argv } = process;
const resumed = argv.includes('--resume') ? (argv[argv.indexOf('--resume') + 1] ?? null) : null;
const sessionId = resumed ?? `session-${process.pid}-${Date.now()}`;
const prompt = argv.includes('--') ? argv.slice(argv.indexOf('--') + 1).join(' ') : 'the task';

const lines = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

const note = (file: string, line: string): void => appendFileSync(file, `${line}\n`);

if (resumed !== null && !existsSync(`${resumed}.session`)) {
  process.stderr.write(`No conversation found with session ID: ${resumed}\n`);
  process.exit(1);
}
writeFileSync(`${sessionId}.session`, prompt, { flag: 'a' });
note('turns', `${sessionId} ${prompt}`);

const socket: Socket | null = process.env.VIGIL_SOCKET ? createConnection(process.env.VIGIL_SOCKET) : null;
socket?.on('error', () => {});
const report = (words: object): void => void socket?.write(`${JSON.stringify(words)}\n`);
const startedAt = Date.now();
const who = { client: { name: client, session_id: sessionId } };
const works = (): void =>
  report({ ...who, activity: 'working', turn: { open: true, started_at: startedAt, last_event_at: Date.now() } });

let isDeaf = false;
process.on('SIGINT', () => {
  note('signals', `${process.pid} SIGINT`);
  if (!isDeaf) process.exit(130);
});

/** Each fault of the task happens once; `hang-again` once for the session and once for its resume. */
const faultBefore = (step: number): Fault | null => {
  for (const one of (process.env.SIMULATED_FAULTS ?? '').split(',')) {
    const [at, fault] = one.split(':');
    const times = fault === 'hang-again' ? 2 : 1;
    const before = lines('faults').filter((line) => line === one).length;
    if (Number(at) !== step || before >= times) continue;
    note('faults', one);
    return fault as Fault;
  }
  return null;
};

const forEver = (): Promise<never> => new Promise(() => setInterval(() => {}, 1 << 30));

const suffer = async (fault: Fault): Promise<void> => {
  switch (fault) {
    case 'hang-midway':
      process.stdout.write('I will now');
      return forEver();
    case 'hang-deaf':
      isDeaf = true;
      return forEver();
    case 'hang-tool':
      spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref();
      return forEver();
    case 'hang':
    case 'hang-again':
      return forEver();
    case 'crash':
      process.exit(3);
      break;
    case 'stall':
      process.kill(process.pid, 'SIGSTOP');
      return;
    case 'limit':
      report({ activity: 'rate_limited', rate_limit: { retry_at: Date.now() + limitMs } });
      await pause(limitMs);
      works();
  }
};

works();
for (let step = lines('effects').length + 1; step <= steps; step += 1) {
  const fault = faultBefore(step);
  if (fault !== null) await suffer(fault);
  await pause(100);
  const call = { call_id: `${sessionId}-${step}`, tool: 'append', args_hash: `step-${step}`, result_hash: `${step}` };
  report({ tool_calls: [{ ...call, outcome: 'running', started_at: Date.now() }] });
  note('effects', `step ${step}`);
  report({ tool_calls: [{ ...call, outcome: 'ok', started_at: Date.now(), ended_at: Date.now() }] });
  works();
  process.stdout.write(`step ${step} is done\n`);
}
report({ activity: 'finished', turn: { open: false, started_at: startedAt, last_event_at: Date.now() } });
await pause(50);
process.exit(0);
