import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isAlive } from '../support/alive.ts';

/** A message of a supervisor to its agent. */
export type Message = { nudge?: string; probe?: string; message?: string; type?: string; order_id?: string };
/** How an agent behaves, as long as it runs. */
export type Scripts = Readonly<Record<string, () => Promise<void>>>;

const folder = process.argv[3] ?? '.';
const { VIGIL_SOCKET = '', VIGIL_AGENT_ID = '', VIGIL_TASK_ID = '', VIGIL_ATTEMPT = '0' } = process.env;
/** The number of the attempt at its task; 0 for the first instance. */
export const attempt = Number(VIGIL_ATTEMPT);
/** The number of previous instances, including attempts that no longer count; 0 for the first. */
export const replacement = Number(/-r(\d+)$/.exec(VIGIL_AGENT_ID)?.[1] ?? 0);
const file = (name: string, kind: string): string => path.join(folder, `${name}.${kind}`);
/** The diary that the test reads, with one event a line. */
export const note = (line: string): void => appendFileSync(file(VIGIL_AGENT_ID, 'diary'), `${line}\n`);
const isSilenced = (): boolean => existsSync(file(VIGIL_AGENT_ID, 'silent'));

/** If two instances work on one task at a time, the younger one detects it. */
export const takeUp = (): void => {
  const held = file(VIGIL_TASK_ID, 'assignee');
  if (existsSync(held) && isAlive(Number(readFileSync(held, 'utf8')))) note('the one before it is still alive');
  writeFileSync(held, String(process.pid));
  note(`began ${process.pid}`);
};

const socket = createConnection(VIGIL_SOCKET);
socket.on('error', () => {});
/** Nothing is sent before the connection is open, because on a busy machine the terminal would be seconds ahead. */
await once(socket, 'connect');
export const send = (fields: object): void => void socket.write(`${JSON.stringify(fields)}\n`);
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

const listeners = new Set<(message: Message) => void>();
createInterface({ input: socket }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  note(
    `received ${message.type ?? (message.probe === undefined ? 'nudge' : 'probe')} ${JSON.stringify(message.nudge ?? message.message ?? '')}`,
  );
  if (message.order_id !== undefined) send({ received: message.order_id });
  for (const listener of listeners) listener(message);
});
export const onMessage = (listener: (message: Message) => void): void => void listeners.add(listener);
export const received = (matches: (message: Message) => boolean): Promise<Message> =>
  new Promise((resolve) => onMessage((message) => void (matches(message) && resolve(message))));
/** Exits at once on request. */
export const leaveOnRequest = (): void =>
  onMessage(({ type }) => {
    if (type === 'shutdown_request') process.exit(0);
  });

let calls = 0;
/** One finished call. */
export const call = (more: object): void => {
  calls += 1;
  const one = { call_id: `c${calls}`, tool: 'Bash', args_hash: `${calls}`, result_hash: `${calls}`, outcome: 'ok' };
  send({ activity: 'working', tool_calls: [{ ...one, started_at: Date.now(), ended_at: Date.now(), ...more }] });
};

let done = 0;
/** One part of the work: a call that changes something, and a line of output. */
export const work = (): void => {
  done += 1;
  print(`part ${done} is done`);
  call({ mutating: true });
};
/** An agent that has written a checkpoint keeps writing them. */
let reports = false;
export const save = (): void => {
  reports = true;
  const lists = { completed_work: [`part ${done}`], remaining_work: [`part ${done + 1}`] };
  const text = JSON.stringify({ schema_version: '1.1.0', task_id: VIGIL_TASK_ID, ...lists });
  const id = `${VIGIL_AGENT_ID}-${done}`;
  writeFileSync(file(id, 'json'), text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const where = { uri: pathToFileURL(path.resolve(file(id, 'json'))).href, sha256, created_at: Date.now() };
  send({ reports_checkpoints: true, checkpoint: { checkpoint_id: id, ...where, ...lists } });
};
export const saveMore = (): void => {
  done += 1;
  save();
};
export const workOn = async (parts = Number.POSITIVE_INFINITY): Promise<void> => {
  for (let more = 0; more < parts; more += 1) {
    if (!isSilenced()) work();
    if (reports && done % 3 === 0) save();
    await sleep(more < 3 ? 300 : 1000);
  }
};
/** Works to the end of the story, and saves its work, so no policy has a finding. */
export const workAndSave = (): Promise<void> => {
  save();
  return workOn();
};
/**
 * A first agent stops only when the whole cast has started, because before that a busy machine delivers orders late.
 */
export const workThenStop = async (): Promise<void> => {
  for (let seconds = 0; attempt === 0 && seconds < 20; seconds += 1) {
    call({});
    await sleep(1000);
  }
  await workOn(3);
  save();
};
export const forEver = (): Promise<void> => new Promise(() => void setInterval(() => {}, 60_000));
/** Until the test creates the file. */
export const untilGo = async (): Promise<void> => {
  while (!existsSync(file(VIGIL_AGENT_ID, 'go'))) await sleep(100);
};
