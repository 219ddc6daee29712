import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** What a supervisor says to its agent. */
type Word = { nudge?: string; probe?: string; message?: string; type?: string };

const [part = '', folder = '.'] = process.argv.slice(2);
const { VIGIL_SOCKET = '', VIGIL_AGENT_ID = '', VIGIL_TASK_ID = '', VIGIL_ATTEMPT = '0' } = process.env;
const isHeir = Number(VIGIL_ATTEMPT) > 0;
const file = (name: string, kind: string): string => path.join(folder, `${name}.${kind}`);
/** What the test reads: its diary, a line an event. */
const note = (line: string): void => appendFileSync(file(VIGIL_AGENT_ID, 'diary'), `${line}\n`);
const isSilenced = (): boolean => existsSync(file(VIGIL_AGENT_ID, 'silent'));

/** Two lives on one task at a time: the younger notices. */
const takeUp = (): void => {
  const held = file(VIGIL_TASK_ID, 'holder');
  if (existsSync(held) && isAlive(Number(readFileSync(held, 'utf8')))) note('the one before it is still alive');
  writeFileSync(held, String(process.pid));
  note(`began ${process.pid}`);
};
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

takeUp();
const socket = createConnection(VIGIL_SOCKET);
socket.on('error', () => {});
const say = (fields: object): void => void socket.write(`${JSON.stringify(fields)}\n`);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);
let hear: (word: Word) => void = () => {};
createInterface({ input: socket }).on('line', (line) => {
  const word = JSON.parse(line) as Word;
  note(
    `heard ${word.type ?? (word.probe === undefined ? 'nudge' : 'probe')} ${JSON.stringify(word.nudge ?? word.message ?? '')}`,
  );
  hear(word);
});
const heard = (wanted: (word: Word) => boolean): Promise<Word> =>
  new Promise((resolve) => {
    hear = (word) => void (wanted(word) && resolve(word));
  });

let done = 0;
/** One part of the work: a call that changes something, and a line of output. */
const work = (): void => {
  done += 1;
  tell(`part ${done} is done`);
  const call = { call_id: `c${done}`, tool: 'Bash', args_hash: `${done}`, result_hash: `${done}`, outcome: 'ok' };
  say({ activity: 'working', tool_calls: [{ ...call, mutating: true, started_at: Date.now(), ended_at: Date.now() }] });
};
/** Whoever writes checkpoints goes on writing them. */
let reports = false;
const save = (): void => {
  reports = true;
  const work = { completed_work: [`part ${done}`], remaining_work: [`part ${done + 1}`] };
  const text = JSON.stringify({ schema_version: '1.1.0', task_id: VIGIL_TASK_ID, ...work });
  const id = `${VIGIL_AGENT_ID}-${done}`;
  writeFileSync(file(id, 'json'), text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const where = { uri: pathToFileURL(path.resolve(file(id, 'json'))).href, sha256, created_at: Date.now() };
  say({ reports_checkpoints: true, checkpoint: { checkpoint_id: id, ...where, ...work } });
};
const workOn = async (parts = Number.POSITIVE_INFINITY): Promise<void> => {
  for (let more = 0; more < parts; more += 1) {
    if (!isSilenced()) work();
    if (reports && done % 10 === 0) save();
    await sleep(300);
  }
};
const forEver = (): Promise<void> => new Promise(() => void setInterval(() => {}, 60_000));
const stubborn = (): void => void process.on('SIGTERM', () => note('asked to end'));
const workThenStop = async (): Promise<void> => {
  await workOn(3);
  save();
};

const parts: Readonly<Record<string, () => Promise<void>>> = {
  works: () => workOn(),
  /** silent after a checkpoint, and deaf to SIGTERM; its heir works */
  stalls: async () => {
    if (isHeir) return workOn();
    stubborn();
    await workThenStop();
    return forEver();
  },
  stallsEachTime: async () => {
    await workThenStop();
    return forEver();
  },
  stallsOnce: async () => {
    if (isHeir) return workOn();
    await workThenStop();
    return forEver();
  },
  mends: async () => {
    await workThenStop();
    await heard((word) => word.nudge !== undefined);
    save();
    return workOn();
  },
  handsOff: async () => {
    if (isHeir) return workOn();
    await workThenStop();
    await heard((word) => word.type === 'handoff_request');
    done += 1;
    save();
    await sleep(500);
    process.exit(0);
  },
  errs: async () => {
    work();
    for (;;) {
      tell('Error: Cannot find module ./parser');
      await sleep(500);
    }
  },
  limited: async () => {
    await workOn(3);
    tell('HTTP 429 Too Many Requests: rate limit reached');
    await heard((word) => word.nudge !== undefined);
    return workOn();
  },
  /** alive, and every request of its own is refused: its work item stands still */
  wedged: async () => {
    say({ work: { id: 'wisp-1', updated_at: Date.now() } });
    work();
    for (;;) {
      tell('API Error: 400 tool_use ids were found without tool_result blocks');
      await sleep(1000);
    }
  },
  wedgedButAnswers: async () => {
    void heard((word) => word.probe !== undefined).then(({ probe }) => say({ probe_reply: `ALIVE ${probe}` }));
    return parts.wedged?.();
  },
  /** thirty steps that its judge does not accept, then all are accepted */
  turnsInCircles: async () => {
    for (let total_steps = 1; ; total_steps += 1) {
      tell('$ npm test');
      const call = {
        call_id: `c${total_steps}`,
        tool: 'Bash',
        args_hash: 'npm test',
        result_hash: 'red',
        outcome: 'error',
      };
      say({
        activity: 'working',
        steps: { total_steps, verdicts: [total_steps <= 30 ? 'RETRY' : 'ACCEPT'] },
        tool_calls: [{ ...call, started_at: Date.now(), ended_at: Date.now() }],
      });
      await sleep(400);
    }
  },
};
await parts[part]?.();
