import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../support/alive.ts';
import type { AgentBehaviour } from './behaviours.ts';

/**
 * A real agent. It works for a while, then behaves as its argument sets; its replacement works. It records all events
 * in `diary`.
 */
const [behaviour, afterMs, folder = '.'] = process.argv.slice(2) as [AgentBehaviour, string, string];
const { VIGIL_SOCKET = '', VIGIL_AGENT_ID = '', VIGIL_INSTANCE_ID = '', VIGIL_TASK_ID = '' } = process.env;
const isReplacement = Number(process.env.VIGIL_ATTEMPT) > 0;

const note = (what: string, more: object = {}): void => {
  const line = { what, agentId: VIGIL_AGENT_ID, instanceId: VIGIL_INSTANCE_ID, taskId: VIGIL_TASK_ID, ...more };
  appendFileSync(path.join(folder, 'diary'), `${JSON.stringify({ ...line, pid: process.pid, at: Date.now() })}\n`);
};

/** If two instances work on one task at a time, the younger one detects it. */
const begin = (): void => {
  const assignee = path.join(folder, `${VIGIL_TASK_ID}.assignee`);
  const before = existsSync(assignee) ? Number(readFileSync(assignee, 'utf8')) : null;
  note('began', { beside: before !== null && isAlive(before) ? before : null });
  writeFileSync(assignee, String(process.pid));
};

begin();
/** The next supervisor listens at the same path, and receives the unsent messages. */
const unsent: string[] = [];
const connect = (): void => {
  socket = createConnection(VIGIL_SOCKET, () => socket.write(unsent.splice(0).join(''))).on('error', () => {});
  socket.once('close', () => setTimeout(connect, 200));
  createInterface({ input: socket })
    .on('error', () => {})
    .on('line', (line) => {
      const message = JSON.parse(line) as { nudge?: string; type?: string; order_id?: string };
      if (message.order_id !== undefined) emit({ received: message.order_id });
      note(`received ${message.type ?? (message.nudge === undefined ? 'something' : 'nudge')}`);
    });
};
let socket: Socket;
connect();
const emit = (fields: object): void => {
  const line = `${JSON.stringify(fields)}\n`;
  if (socket.readyState === 'open') socket.write(line);
  else unsent.push(line);
};
let calls = 0;
const call = (more: object) => {
  calls += 1;
  return { call_id: `c${calls}`, tool: 'Bash', args_hash: `a${calls}`, ...more };
};
const ended = () => ({ outcome: 'ok', started_at: Date.now(), ended_at: Date.now() });

const work = async (ms: number): Promise<void> => {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(500)) {
    process.stdout.write(`part ${calls} is done\n`);
    emit({ activity: 'working', tool_calls: [call({ result_hash: `r${calls}`, mutating: true, ...ended() })] });
  }
};

const behaviours: Readonly<Record<AgentBehaviour, () => Promise<unknown> | undefined>> = {
  works: () => work(Number.POSITIVE_INFINITY),
  /** silent for longer than the limit, in a call that may take longer */
  busy: async () => {
    for (;;) {
      const started = { started_at: Date.now(), deadline_at: Date.now() + 60_000 };
      const long = call({ ...started, outcome: 'running' });
      emit({ activity: 'working', tool_calls: [long] });
      await sleep(50_000);
      emit({
        activity: 'working',
        tool_calls: [{ ...long, result_hash: `r${calls}`, outcome: 'ok', ended_at: Date.now() }],
      });
    }
  },
  /** silent for good, and ignores SIGTERM */
  hangs: () => {
    process.on('SIGTERM', () => note('asked to end'));
    setInterval(() => {}, 60_000);
    return undefined;
  },
  loops: async () => {
    for (;;) {
      const same = { args_hash: 'same', result_hash: 'same' };
      emit({ activity: 'working', tool_calls: [call({ ...same, ...ended() })] });
      await sleep(400);
    }
  },
  crashes: () => {
    note('crashes');
    return process.exit(1);
  },
};

await work(isReplacement ? Number.POSITIVE_INFINITY : Number(afterMs));
await behaviours[behaviour]();
