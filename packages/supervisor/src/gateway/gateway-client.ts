import type { ContentOf, Heartbeat, PolicyRef, Topic } from '@vigil/events';
import type { AskAtStop } from '@vigil/health/proof';
import type { MachineClock } from '../clock.ts';
import { GatewayAway, GatewayBusy, GatewayForbids, GatewayRefused } from '../errors.ts';
import type { TerminalLease } from '../live-terminal/leases.ts';
import type { OfferedOrder, OrderEnvelope, Report, WithoutTopic } from '../orders/order.ts';

/**
 * Whether the gateway takes an agent's heartbeats. `why`: a sentence with the remedy. `forbidden`: the token is that of
 * another name.
 */
export type Reach =
  | { readonly kind: 'watched' }
  | { readonly kind: 'unwatched'; readonly why: string; readonly forbidden: boolean };

/** A token of another name is one cause, whichever request the gateway refuses for it. */
export const isSameReach = (one: Reach, other: Reach): boolean => {
  if (one.kind === 'watched' || other.kind === 'watched') return one.kind === other.kind;
  return one.why === other.why || (one.forbidden && other.forbidden);
};

export const unwatched = (error: unknown): Reach => ({
  kind: 'unwatched',
  why: error instanceof Error ? error.message : String(error),
  forbidden: error instanceof GatewayForbids,
});

/** Two supervisors, each with a state folder of its own, run this name at once, and the gateway judges the newer one. */
export const replaced = (agentId: string, successor: string): Reach => ({
  kind: 'unwatched',
  why: `${agentId} was started again elsewhere as instance ${successor}, and Vigil watches that one in its place: end one of the two, or start it with another --name`,
  forbidden: false,
});

/** Asks the gateway, before anything is started, whether it takes this runtime. One that does not answer in time does not. */
export const probeReach = async (gateway: Gateway, runtimeId: string, withinMs: number): Promise<Reach> => {
  try {
    await gateway.orders(runtimeId, 0, AbortSignal.timeout(withinMs));
    return { kind: 'watched' };
  } catch (error) {
    return unwatched(error);
  }
};

/** For what an agent is stuck or failing. `foundAt`: when that was found, epoch milliseconds. */
export type Finding = { readonly foundAt: number; readonly reason: string; readonly axes: readonly string[] };

export type HeartbeatAnswer = {
  /** recalled orders come first */
  readonly orders: readonly OrderEnvelope[];
  /** the heartbeat interval of the policy; null: the runtime chooses */
  readonly intervalMs: number | null;
  /** whose policy it is judged by; null: not known */
  readonly policy: PolicyRef | null;
  /** what should be corrected in a heartbeat that was taken */
  readonly warnings: readonly string[];
  /** why the agent may make no more calls: a spending limit; null: it may */
  readonly refusal: string | null;
  /** what is asked before a turn ends; null: nothing */
  readonly askAtStop: AskAtStop | null;
  /** the newer instance that is judged in the place of this one; null: none is known */
  readonly successor: string | null;
  /** null: this instance is neither stuck nor failing, or the gateway is older */
  readonly finding: Finding | null;
};

/** The lines of a leased terminal, or why there are none. */
export type TerminalReport = WithoutTopic<ContentOf<typeof Topic.agentTerminal>>;

/** What a poll of a runtime receives. `terminals`: leases that are new, renewed or over; an older gateway sends none. */
export type Polled = { readonly orders: readonly OrderEnvelope[]; readonly terminals: readonly TerminalLease[] };

/** All of it @throws GatewayAway (the same again later) or GatewayRefused (not again). */
export type Gateway = {
  readonly sendHeartbeat: (heartbeat: Heartbeat, signal: AbortSignal) => Promise<HeartbeatAnswer>;
  /** `{ name, hash, document }` */
  readonly policy: (name: string, signal: AbortSignal) => Promise<unknown>;
  readonly report: (reports: readonly Report[]) => Promise<void>;
  /** 409 where no one has a lease of the terminal */
  readonly terminal: (report: TerminalReport) => Promise<void>;
  /** comes back when there are orders or leases, or after `waitSeconds` without */
  readonly orders: (runtimeId: string, waitSeconds: number, signal: AbortSignal) => Promise<Polled>;
  /** comes back when people have decided on the request, or after `waitSeconds` without */
  readonly request: (request: object, waitSeconds: number, signal: AbortSignal) => Promise<unknown>;
  readonly withdraw: (request: object) => Promise<void>;
};

export type Address = { readonly url: string; readonly token: string };

/** A request without an answer is aborted after this time and made again. */
const PATIENCE_MS = 15_000;

/** A token that is not accepted may be corrected at the gateway while the agent works on, so it is worth another try. */
const isFinal = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status);

/** The gateway's description of a failure: the `detail` of its problem+json, else the body as it is. */
const detailOf = async (response: Response): Promise<string> => {
  const body = await response.text().catch(() => '');
  try {
    const { detail } = JSON.parse(body) as { readonly detail?: unknown };
    if (typeof detail === 'string') return detail.slice(0, 500);
  } catch {
    // another server's page
  }
  return body.slice(0, 500);
};

const unreachable = (origin: string, error: Error): GatewayAway => {
  if (error.name === 'TimeoutError') return new GatewayAway(`the gateway at ${origin} does not answer in time`);
  const { code, message } = (error.cause ?? error) as { readonly code?: string; readonly message?: string };
  return new GatewayAway(
    `no gateway answers at ${origin} (${code ?? message}): start Vigil (npm start), or set VIGIL_GATEWAY_URL to the address of its gateway`,
  );
};

/** Longer is not waited for: the gateway may accept the request sooner. Milliseconds. */
const LONGEST_RETRY_MS = 300_000;

/** The time in the header Retry-After, milliseconds; 0: the answer names none. */
const retryAfterMsOf = ({ headers }: Response): number => {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, LONGEST_RETRY_MS) : 0;
};

const failureOf = async (where: URL, response: Response): Promise<Error> => {
  const { status } = response;
  const [gateway, detail] = [`the gateway at ${where.origin}`, await detailOf(response)];
  if (status === 401)
    return new GatewayAway(
      `${gateway} refuses this token (401): set VIGIL_GATEWAY_TOKEN to its own token, or to what \`vigil token create\` prints`,
    );
  if (status === 403) return new GatewayForbids(`${gateway} refuses this token (403): ${detail}`);
  if (isFinal(status))
    return new GatewayRefused(`${gateway} refuses ${where.pathname} (${status}): ${detail}`, status, detail);
  return new GatewayBusy(`${gateway} answers ${status}: ${detail}`, retryAfterMsOf(response));
};

const isAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const exchange = async ({ url, token }: Address, path: string, init: RequestInit): Promise<unknown> => {
  if (!isAddress(url))
    throw new GatewayAway(
      `--gateway (or VIGIL_GATEWAY_URL) is ${JSON.stringify(url)}, which is not an address: write one like http://127.0.0.1:7410`,
    );
  const where = new URL(path, url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(where, { ...init, headers }).catch((error: Error) => {
    throw unreachable(where.origin, error);
  });
  if (!response.ok) throw await failureOf(where, response);
  return response.json().catch((error: Error) => {
    throw new GatewayAway(`${where.origin} answers without JSON, so it is not a gateway: ${error.message}`);
  });
};

const post = (address: Address, path: string, body: unknown, signal?: AbortSignal): Promise<unknown> => {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  return exchange(address, path, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: signal ? AbortSignal.any([signal, patience]) : patience,
  });
};

type Offer = Omit<Partial<HeartbeatAnswer>, 'orders'> & {
  readonly orders?: readonly OfferedOrder[];
  /** orders that must not begin */
  readonly recalled?: readonly OfferedOrder[];
  /** what passed at the gateway before it answered */
  readonly waitedMs?: number;
  readonly terminals?: readonly TerminalLease[];
};

/** An answer may lie unread while this process, or the whole machine, stands still: that counts against its orders' time to live. */
const offerOf =
  ({ now, monotonic }: MachineClock) =>
  async (asking: () => Promise<unknown>): Promise<HeartbeatAnswer & Polled> => {
    const [began, beganMonotonic] = [now(), monotonic()];
    const { orders = [], recalled = [], waitedMs, ...more } = (await asking()) as Offer;
    const passed = Math.max(now() - began, monotonic() - beganMonotonic);
    const lateMs = waitedMs === undefined ? 0 : Math.max(0, passed - waitedMs);
    const offered = [
      ...recalled.map((one) => ({ ...one, isRecalled: true })),
      ...orders.map((one) => ({ ...one, isRecalled: false })),
    ].map((one) => ({ ...one, policy: one.policy ?? null, expiresInMs: one.expiresInMs - lateMs }));
    return {
      intervalMs: null,
      policy: null,
      warnings: [],
      refusal: null,
      askAtStop: null,
      successor: null,
      finding: null,
      terminals: [],
      ...more,
      orders: offered,
    };
  };

export const connectGateway = (address: Address, clock: MachineClock): Gateway => ({
  sendHeartbeat: (heartbeat, signal) => offerOf(clock)(() => post(address, '/v1/heartbeats', heartbeat, signal)),
  policy: (name, signal) => exchange(address, `/v1/policies/${encodeURIComponent(name)}`, { signal }),
  report: async (reports) => void (await post(address, '/v1/receipts', reports)),
  terminal: async (report) => void (await post(address, '/v1/terminals', report)),
  orders: async (runtimeId, waitSeconds, signal) => {
    const path = `/v1/runtimes/${encodeURIComponent(runtimeId)}/orders?wait=${waitSeconds}`;
    const patience = AbortSignal.timeout(waitSeconds * 1000 + PATIENCE_MS);
    const asked = { signal: AbortSignal.any([signal, patience]) };
    const { orders, terminals } = await offerOf(clock)(() => exchange(address, path, asked));
    return { orders, terminals };
  },
  request: (request, waitSeconds, signal) =>
    exchange(address, `/v1/requests?wait=${waitSeconds}`, {
      method: 'POST',
      body: JSON.stringify(request),
      signal: AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1000 + PATIENCE_MS)]),
    }),
  withdraw: async (request) => void (await post(address, '/v1/requests/withdraw', request)),
});
