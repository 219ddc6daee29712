import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { answersBy, type Decision, type HookRequest, sentRequest } from '@vigil/adapters/adapter';
import { post, type Reply } from '../gateway/http.ts';
import { tokenFrom } from '../gateway/token.ts';
import { type Environment, whoIs } from '../session/agents.ts';
import { awaitDecision, LONGEST_WAIT_MS, POLL_S, type Polled } from './await-decision.ts';

/** A request of one hook. `id`: unique for it. */
export type Asking = {
  readonly id: string;
  readonly client: string;
  readonly session: string;
  readonly request: HookRequest;
};

/** Where people decide. `withdraw`: the hook ends before. */
export type Desk = {
  readonly decision: (signal: AbortSignal) => Promise<Decision | null>;
  readonly withdraw: () => Promise<void>;
};

/** How long a gateway is waited for before a request is open, and at a withdrawal, milliseconds. */
const FIRST_MS = 10_000;
const POLL_MS = POLL_S * 1000 + 10_000;
const WITHDRAW_MS = 1000;
/** A supervisor that was restarted has this time to listen again, milliseconds. */
const RECONNECT_MS = 30_000;
const AGAIN_MS = 500;

const polledBy = ({ status, body }: Reply): Polled => {
  if (status >= 200 && status < 300) return { kind: 'answered', answer: body };
  const isFinal = status >= 400 && status < 500 && ![408, 425, 429].includes(status);
  return { kind: isFinal ? 'refused' : 'away' };
};

/** Through the gateway, for a session without a supervisor. `now`: epoch milliseconds */
export const atGateway = (
  url: string,
  { id, client, session, request }: Asking,
  env: Environment,
  now: () => number,
): Desk => {
  const address = url.replace(/\/+$/, '');
  const token = tokenFrom(env);
  const { agentId, instanceId, taskId } = whoIs(client, session, env);
  const who = { requestId: id, agentId, instanceId };
  const body = { ...who, taskId, client, ...sentRequest(request), waitMs: LONGEST_WAIT_MS };
  const poll = async (wait: number) =>
    polledBy(await post(`${address}/v1/requests?wait=${wait}`, token, body, wait === 0 ? FIRST_MS : POLL_MS));
  return {
    decision: (signal) => awaitDecision(poll, { now, pause: (ms) => pause(ms) }, signal),
    withdraw: async () => {
      const ended = { ...who, why: 'its hook has ended: the client was answered directly, or has ended' };
      await post(`${address}/v1/requests/withdraw`, token, ended, WITHDRAW_MS);
    },
  };
};

/** The decision that a supervisor sends, which may be an older one; null: there is none. */
const decidedIn = (message: unknown): Decision | null => {
  const { decided } = message as {
    readonly decided?: (Omit<Decision, 'answers'> & { readonly answers?: unknown }) | null;
  };
  const answers = answersBy(decided?.answers);
  return decided == null || answers === null ? null : { choice: decided.choice, answers, why: decided.why };
};

/** What the supervisor answers; undefined: the connection is over without an answer. */
const askedOnce = (path: string, line: string, signal: AbortSignal): Promise<Decision | null | undefined> =>
  new Promise((resolve) => {
    const socket = connect(path);
    let received = '';
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(line));
    socket.on('data', (chunk: string) => {
      received += chunk;
      const [first, rest] = received.split('\n', 2);
      if (rest === undefined) return;
      socket.destroy();
      try {
        resolve(decidedIn(JSON.parse(first ?? '')));
      } catch {
        resolve(null);
      }
    });
    socket.on('error', () => socket.destroy()).on('close', () => resolve(undefined));
    signal.addEventListener('abort', () => socket.destroy(), { once: true });
  });

/** Through the supervisor on the same machine. It withdraws the request when the connection breaks. `now`: epoch milliseconds */
export const atSupervisor = (path: string, { id, client, request }: Asking, now: () => number): Desk => ({
  decision: async (signal) => {
    const line = `${JSON.stringify({ hook: { asks: { id, client, ...sentRequest(request) } } })}\n`;
    for (let away = 0; away < RECONNECT_MS && !signal.aborted; ) {
      const began = now();
      const decided = await askedOnce(path, line, signal);
      if (decided !== undefined) return decided;
      const waited = now() - began;
      // It does not listen, or it is older and has no requests.
      if (away === 0 && waited < AGAIN_MS) return null;
      await pause(AGAIN_MS);
      away = waited > AGAIN_MS ? AGAIN_MS : away + AGAIN_MS;
    }
    return null;
  },
  withdraw: async () => {},
});
