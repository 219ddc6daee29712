import { createConnection, type Socket } from 'node:net';
import type { Heartbeat } from '@vigil/events';
import type { ReceivedCommand } from '../commands.ts';
import { noAnswer, type OpenTransport, type TransportDeps } from './transport.ts';

/** Calls and errors in one line: a supervisor takes lines of 128 Ki characters. */
const IN_A_LINE = 20;
/** Characters of a line from the supervisor. */
const LONGEST_LINE = 1 << 20;

/** What a supervisor sends, one object a line. */
type Pushed = {
  /** of a text message */
  readonly order_id?: string;
  readonly nudge?: string;
  readonly probe?: string;
  readonly message?: string;
  readonly type?: string;
  readonly deadline_ms?: number;
  readonly reason?: string;
  readonly name?: string;
  readonly problems?: readonly string[];
};

const commandIn = ({
  nudge,
  probe,
  message = '',
  type,
  deadline_ms = 0,
  reason = '',
  name = '',
}: Pushed): ReceivedCommand | null => {
  if (nudge !== undefined) return { kind: 'nudge', message: nudge };
  if (probe !== undefined) return { kind: 'probe', message, nonce: probe };
  if (type === 'handoff_request') return { kind: 'handoff', message, deadlineMs: deadline_ms };
  if (type === 'checkpoint_request') return { kind: 'checkpoint', reason, deadlineMs: deadline_ms };
  if (type === 'shutdown_request') return { kind: 'shutdown', reason };
  return type === 'reset_breaker' ? { kind: 'reset_breaker', name } : null;
};

/** `confirm`: reports to the supervisor that the agent has received this order. */
const obey = (line: string, { deliver, onProblem }: TransportDeps, confirm: (orderId: string) => void): void => {
  const pushed = JSON.parse(line) as Pushed;
  if (pushed.problems !== undefined) onProblem(`the supervisor rejected: ${pushed.problems.join('; ')}`);
  const command = commandIn(pushed);
  const isDelivered = command !== null && deliver(command);
  if (isDelivered && pushed.order_id !== undefined) confirm(pushed.order_id);
};

/** Identity, time and end of the agent: its supervisor has them already. */
type Own =
  | 'agent_id'
  | 'task_id'
  | 'timestamp'
  | 'instance_id'
  | 'sequence'
  | 'reporter'
  | 'agent_heartbeat_at'
  | 'interval_ms';
type AlsoOwn =
  | 'ingress'
  | 'verified'
  | 'policy'
  | 'labels'
  | 'runtime_id'
  | 'attempt'
  | 'max_attempts'
  | 'output'
  | 'exit';

const isSomething = (value: unknown): boolean =>
  !(value === null || value === 0 || (Array.isArray(value) && value.length === 0));

/** A partial heartbeat: a field that the agent did not report keeps what another source (such as the hook) reported. */
const partial = (heartbeat: Heartbeat): Omit<Heartbeat, Own | AlsoOwn | 'tool_calls' | 'errors'> => {
  const { agent_id, task_id, timestamp, instance_id, sequence, reporter, agent_heartbeat_at, interval_ms, ...more } =
    heartbeat;
  const {
    ingress,
    verified,
    policy,
    labels,
    runtime_id,
    attempt,
    max_attempts,
    output,
    exit,
    tool_calls,
    errors,
    ...fields
  } = more;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isSomething(value))) as typeof fields;
};

const chunks = <T>(list: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / IN_A_LINE) }, (_, n) => list.slice(n * IN_A_LINE, (n + 1) * IN_A_LINE));

const linesOf = (heartbeat: Heartbeat): string =>
  [
    ...chunks(heartbeat.tool_calls).map((tool_calls) => ({ tool_calls })),
    ...chunks(heartbeat.errors).map((errors) => ({ errors })),
    partial(heartbeat),
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');

/** Reads lines, and keeps only the start of an endless one. Reports an unreadable line and reads on. */
const eachLine = (socket: Socket, line: TransportDeps): void => {
  let rest = '';
  const confirm = (orderId: string) => void socket.write(`${JSON.stringify({ received: orderId })}\n`);
  const read = (one: string) => {
    try {
      if (one.trim() !== '') obey(one, line, confirm);
    } catch (error) {
      line.onProblem(`a line of the supervisor cannot be read: ${(error as Error).message}`);
    }
  };
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    lines.forEach(read);
  });
};

const connected = (path: string, line: TransportDeps): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(path, () => resolve(socket));
    socket.unref();
    socket.on('error', reject);
    eachLine(socket, line);
  });

const written = (socket: Socket, text: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the supervisor does not read')), { once: true });
    socket.write(text, (error) => (error ? reject(error) : resolve()));
  });

/**
 * To the supervisor that the agent runs under (VIGIL_SOCKET). Only the supervisor sends heartbeats; it merges the
 * agent's reports.
 */
export const overSocket =
  (path: string): OpenTransport =>
  (line) => {
    let open: Socket | null = null;
    const socket = async (): Promise<Socket> => {
      if (open === null || open.destroyed || !open.writable) open = await connected(path, line);
      return open;
    };
    return {
      local: true,
      send: async (heartbeat, signal) => {
        const to = await socket();
        try {
          await written(to, linesOf(heartbeat), signal);
        } catch (error) {
          to.destroy();
          throw error;
        }
        return noAnswer;
      },
      policy: async () => null,
      close: () => new Promise((resolve) => (open === null || open.destroyed ? resolve() : open.end(() => resolve()))),
    };
  };
