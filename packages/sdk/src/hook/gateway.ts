import { lateness, type Order, receiptOf, resetsAmong, said, textsAmong, type Who, whoIs } from './beat.ts';
import type { Environment } from './call.ts';
import { type Answer, nothing } from './door.ts';
import { post, type Reply } from './http.ts';
import { type HookInput, within } from './input.ts';
import type { Report } from './report.ts';
import { type Folder, forgetOld, openFolder, type Session } from './session.ts';

/** A gateway may be far away, but nobody waits for it for long; one that did not answer is left alone for a while. Milliseconds. */
const ANSWER_MS = 250;
const AWAY_MS = 10_000;
/** How often what others have left meanwhile is sent too, before it is left to the next hook. */
const ROUNDS = 3;
const MOST_DONE = 200;

type Gateway = { readonly url: string; readonly token: string; readonly withinMs: number };

const isOk = ({ status }: Reply): boolean => status >= 200 && status < 300;
/** The same again would be refused again. */
const isFinal = ({ status }: Reply): boolean =>
  status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status);

/** Nobody knows whether a text that an earlier hook was passing on has arrived: it is not repeated. */
const settled = (session: Session): Session => ({
  ...session,
  receipts: [
    ...session.receipts,
    ...session.passing.map((receipt) => ({
      ...receipt,
      outcome: 'uncertain' as const,
      why: 'the hook that had it died',
    })),
  ],
  passing: [],
});

const away = (session: Session, now: number): Session => ({ ...session, awayUntil: now + AWAY_MS });

const sendReceipts = async (session: Session, { url, token, withinMs }: Gateway): Promise<Session> => {
  if (session.receipts.length === 0) return session;
  const body = session.receipts.map((payload) => ({ type: 'ORDER_RECEIPT', payload }));
  const reply = await post(`${url}/v1/receipts`, token, body, withinMs);
  return isOk(reply) || isFinal(reply) ? { ...session, receipts: [] } : away(session, Date.now());
};

type Sent = { readonly session: Session; readonly orders: readonly Order[] };

const sendBeats = async (session: Session, { url, token, withinMs }: Gateway): Promise<Sent> => {
  if (session.unsent.length === 0) return { session, orders: [] };
  const reply = await post(`${url}/v1/heartbeats`, token, session.unsent, withinMs);
  if (!isOk(reply) && !isFinal(reply)) return { session: away(session, Date.now()), orders: [] };
  const orders = isOk(reply) ? within(reply.body, 'orders') : [];
  return { session: { ...session, unsent: [] }, orders: Array.isArray(orders) ? (orders as Order[]) : [] };
};

const answered = (session: Session, receipts: Session['receipts']): Session => ({
  ...session,
  receipts: [...session.receipts, ...receipts],
  done: [...session.done, ...receipts.map(({ orderId }) => orderId)].slice(-MOST_DONE),
});

/** A breaker that is asked for is closed by whichever hook hears of it. Its receipt goes with the next. */
const closed = (folder: Folder, who: Who, session: Session, orders: readonly Order[]): Session => {
  const receipts = resetsAmong(orders, who, session).map((order) => {
    const done = folder.breakers.reset(order.payload.name ?? '');
    const why = done ? null : `its hooks hold no breaker ${JSON.stringify(order.payload.name ?? '')}`;
    return receiptOf(order, done ? 'done' : 'failed', why, Date.now());
  });
  return receipts.length === 0 ? session : answered(session, receipts);
};

/** Whatever has been left is sent, unless the gateway is away; what came back is for the hook that sent it. */
const round = async (folder: Folder, gateway: Gateway, who: Who): Promise<Sent> => {
  const now = Date.now();
  const session = said(settled(folder.read()), folder.collect(), folder.breakers.reports(), who, now);
  folder.write(session);
  if (now < session.awayUntil) return { session, orders: [] };
  const { session: told, orders } = await sendBeats(await sendReceipts(session, gateway), gateway);
  const sent = { session: closed(folder, who, told, orders), orders };
  folder.write(sent.session);
  return sent;
};

const lateWords = {
  expired: 'its time to live was over when it was read',
  superseded: 'what was awaited has come since',
} as const;

/** The texts that go with this hook are written down before, as passing, and after, as delivered: none goes twice. */
const take = (folder: Folder, gateway: Gateway, who: Who, { session, orders }: Sent): Answer => {
  const now = Date.now();
  const texts = textsAmong(orders, who, session);
  const late = texts.flatMap((order) => {
    const why = lateness(order, session);
    return why === null ? [] : [receiptOf(order, why, lateWords[why], now)];
  });
  const due = texts.filter((order) => lateness(order, session) === null);
  const passing = due.map((order) => receiptOf(order, 'delivered', null, now));
  const begun = answered(session, late);
  folder.write({ ...begun, passing, done: [...begun.done, ...passing.map(({ orderId }) => orderId)] });
  return {
    texts: due.map(({ payload }) => ({ orderId: payload.orderId, text: payload.message ?? '' })),
    denial: null,
    told: async () => {
      const told = answered(begun, passing);
      folder.write(told);
      folder.write(await sendReceipts(told, gateway));
      folder.unlock();
    },
  };
};

/** Tells the gateway on behalf of a session that no supervisor watches. */
export const askGateway = async (
  url: string,
  input: HookInput,
  report: Report,
  env: Environment,
  withinMs = ANSWER_MS,
): Promise<Answer> => {
  const sessionId = input.text('session_id');
  if (sessionId === null) return nothing;
  if (input.event === 'SessionStart') forgetOld(env, Date.now());
  const gateway = { url: url.replace(/\/+$/, ''), token: env.VIGIL_GATEWAY_TOKEN ?? '', withinMs };
  const who = whoIs(sessionId, env);
  const folder = openFolder(sessionId, env, process.hrtime.bigint());
  const denial = folder.breakers.judge(report, Date.now());
  // A call that is not made is none.
  const { tool_calls: _, ...rest } = report.said;
  const told = denial === null ? report.said : rest;
  if (Object.keys(told).length > 0) folder.leave(told);
  const answer = await exchanged(folder, gateway, who, report.takesText);
  return { ...answer, denial };
};

const exchanged = async (folder: Folder, gateway: Gateway, who: Who, takesText: boolean): Promise<Answer> => {
  for (let left = ROUNDS; left > 0 && folder.lock(); left -= 1) {
    const sent = await round(folder, gateway, who).catch((error: unknown) => {
      folder.unlock();
      throw error;
    });
    if (takesText && sent.orders.length > 0) return take(folder, gateway, who, sent);
    folder.unlock();
    if (folder.isEmpty()) return nothing;
  }
  return nothing;
};
