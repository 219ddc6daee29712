import type { Adapter } from '@vigil/adapters/adapter';
import type { AgentReport, SessionEvent } from '@vigil/adapters/session';
import { askedAtStop, NO_PROOF, questionAtStop } from '@vigil/health/proof';
import { type Environment, heartbeatsOf, MAIN_AGENT, type SentBefore, type Who, whoIs } from '../session/agents.ts';
import { breakerReports, closedByOrder } from '../session/breakers.ts';
import { type Folded, foldEvent, foldRecord, mergeReports } from '../session/fold.ts';
import { type Marks, ofKnownAgents, readTranscripts, withTranscripts } from '../session/transcript.ts';
import { type Folder, type Kept, openFolder, removeExpired } from '../spool/folder.ts';
import { append, readSpool, type SpoolRecord } from '../spool/spool.ts';
import { type Answer, nothing } from '../supervisor.ts';
import { post, type Reply } from './http.ts';
import { askAtStopIn, lateness, type Order, receiptOf, resetsAmong, textsAmong } from './texts.ts';
import { tokenFrom } from './token.ts';

/** How long a gateway is waited for; one that did not answer is left alone for a while. Milliseconds. */
const ANSWER_MS = 250;
const AWAY_MS = 10_000;
const LOOK_AGAIN_MS = 10;
/** How often what other hooks have appended meanwhile is sent too, before it is left to the next hook. */
const ROUNDS = 3;
const MOST_DONE = 200;
/** Calls that one heartbeat carries at most. */
const MOST_CALLS = 100;
const MOST_REFUSALS = 20;

type Gateway = {
  readonly url: string;
  readonly token: string;
  readonly withinMs: number;
  /** epoch milliseconds */
  readonly now: () => number;
};

type Reader = Adapter['transcript'];

/** What a session is worked on with. */
type Deps = {
  readonly folder: Folder;
  readonly gateway: Gateway;
  readonly who: Who;
  /** loaded only where records are folded */
  readonly transcript: () => Promise<Reader>;
};

const isOk = ({ status }: Reply): boolean => status >= 200 && status < 300;
/** The same request would be refused again. */
const isFinal = ({ status }: Reply): boolean =>
  status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status);

/** It is unknown whether a text that an earlier hook was about to print has arrived: it is not repeated. */
const withUncertain = (kept: Kept): Kept => ({
  ...kept,
  receipts: [
    ...kept.receipts,
    ...kept.passing.map((receipt) => ({
      ...receipt,
      outcome: 'uncertain' as const,
      why: 'the hook that had it died',
    })),
  ],
  passing: [],
});

const away = (kept: Kept, now: number): Kept => ({ ...kept, awayUntil: now + AWAY_MS });

const sendReceipts = async (kept: Kept, { url, token, withinMs, now }: Gateway): Promise<Kept> => {
  if (kept.receipts.length === 0) return kept;
  const body = kept.receipts.map((payload) => ({ type: 'ORDER_RECEIPT', payload }));
  const reply = await post(`${url}/v1/receipts`, token, body, withinMs);
  return isOk(reply) || isFinal(reply) ? { ...kept, receipts: [] } : away(kept, now());
};

type Sent = { readonly kept: Kept; readonly orders: readonly Order[] };

const sendHeartbeats = async (kept: Kept, { url, token, withinMs, now }: Gateway): Promise<Sent> => {
  if (kept.unsent.length === 0) return { kept, orders: [] };
  const reply = await post(`${url}/v1/heartbeats`, token, kept.unsent, withinMs);
  if (!isOk(reply) && !isFinal(reply)) return { kept: away(kept, now()), orders: [] };
  const { orders, refusal } = (isOk(reply) ? reply.body : {}) as { orders?: unknown; refusal?: unknown };
  const limit = typeof refusal === 'string' ? refusal : null;
  const askAtStop = isOk(reply) ? askAtStopIn(reply.body) : kept.askAtStop;
  return { kept: { ...kept, unsent: [], limit, askAtStop }, orders: Array.isArray(orders) ? (orders as Order[]) : [] };
};

const answered = (kept: Kept, receipts: Kept['receipts']): Kept => ({
  ...kept,
  receipts: [...kept.receipts, ...receipts],
  done: [...kept.done, ...receipts.map(({ orderId }) => orderId)].slice(-MOST_DONE),
});

/** A breaker is closed by the hook that receives the order. The next request carries its receipt. */
const withResets = (who: Who, kept: Kept, orders: readonly Order[], now: number): Kept =>
  resetsAmong(orders, who, kept.done).reduce((so, order) => {
    const name = order.payload.name ?? '';
    const breakers = closedByOrder(so.fold.breakers, name);
    const why = breakers === undefined ? `its hooks hold no breaker ${JSON.stringify(name)}` : null;
    const fold = breakers === undefined ? so.fold : { ...so.fold, breakers };
    return answered({ ...so, fold }, [receiptOf(order, why === null ? 'done' : 'failed', why, now)]);
  }, kept);

/** A session after its new records, and the reports to send. */
type Taken = { readonly kept: Kept; readonly reports: readonly AgentReport[] };

const callsIn = (reports: readonly AgentReport[]): number =>
  Math.max(0, ...reports.map(({ fields }) => fields.tool_calls?.length ?? 0));

const withEvents = (taken: Taken, events: readonly SessionEvent[]): Taken =>
  events.reduce(({ kept, reports }, event) => {
    const one = foldEvent(kept.fold, event);
    return { kept: { ...kept, fold: one.fold }, reports: mergeReports(reports, one.reports) };
  }, taken);

/** What these files hold since: tokens, context and cost, and exit codes. */
const withLines = (taken: Taken, files: Marks, reader: Reader): Taken => {
  const { marks, events } = readTranscripts(files, reader);
  if (marks === files) return taken;
  const { kept, reports } = withEvents(taken, events);
  return { kept: { ...kept, transcripts: { ...kept.transcripts, ...marks } }, reports };
};

const withRefusalOf = (kept: Kept, id: string, refusal: string | null): Kept => {
  if (refusal === null) return kept;
  const newest = Object.entries(kept.refusals).slice(1 - MOST_REFUSALS);
  return { ...kept, refusals: Object.fromEntries([...newest, [id, refusal]]) };
};

const folded = ({ kept, reports }: Taken, record: SpoolRecord): Taken => {
  const { fold, reports: more, refusal } = foldRecord(kept.fold, record, () => kept.limit);
  return { kept: withRefusalOf({ ...kept, fold }, record.id, refusal), reports: mergeReports(reports, more) };
};

/**
 * Entries of the files from before a hook started are folded before its record; entries about new sub-agents after
 * it.
 */
const withRecord = ({ kept, reports }: Taken, record: SpoolRecord, reader: Reader): Taken => {
  const transcripts = withTranscripts(kept.transcripts, record, reader);
  const so: Taken = { kept: { ...kept, transcripts }, reports };
  const before = withLines(so, ofKnownAgents(transcripts, kept.fold.session), reader);
  const after = folded(before, record);
  return withLines(after, after.kept.transcripts, reader);
};

const sentBefore = ({ agents, fold: { session } }: Kept): SentBefore => ({ agents, session });

/** The next heartbeats are made of what the spool holds, unless others are on their way still. */
const withHeartbeats = async (kept: Kept, { folder, who, transcript }: Deps, now: number): Promise<Kept> => {
  if (kept.unsent.length > 0) return kept;
  const { entries, offset: end } = readSpool(folder.spool, kept.offset, false);
  if (entries.length === 0) return { ...kept, offset: end };
  const reader = await transcript();
  let so: Taken = { kept: { ...kept, offset: end }, reports: [] };
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && callsIn(so.reports) + entry.record.events.length > MOST_CALLS) break;
    so = withRecord({ ...so, kept: { ...so.kept, offset: entry.end } }, entry.record, reader);
  }
  const { kept: after, reports } = so;
  const { agents, heartbeats } = heartbeatsOf(sentBefore(kept), reports, breakerReports(after.fold.breakers), who, now);
  return { ...after, agents, unsent: heartbeats };
};

/** What the spool holds is sent, unless the gateway is away; the orders that come back are for the hook that sent it. */
const round = async (deps: Deps): Promise<Sent> => {
  const { folder, gateway, who } = deps;
  const now = gateway.now();
  const kept = await withHeartbeats(withUncertain(folder.read()), deps, now);
  folder.write(kept);
  if (now < kept.awayUntil) return { kept, orders: [] };
  const { kept: after, orders } = await sendHeartbeats(await sendReceipts(kept, gateway), gateway);
  const sent = { kept: withResets(who, after, orders, gateway.now()), orders };
  folder.write(sent.kept);
  return sent;
};

/** The texts for a hook, and how it reports that it has printed them. */
type Texts = Pick<Answer, 'texts' | 'printed'>;

const lateReasons = {
  expired: 'its time to live was over when it was read',
  superseded: 'what was awaited has come since',
} as const;

/** The texts that go with this hook are recorded before, as passing, and after, as delivered: none goes twice. */
const take = ({ folder, gateway, who }: Deps, { kept, orders }: Sent): Texts => {
  const now = gateway.now();
  const progress = kept.agents[MAIN_AGENT]?.progress;
  const texts = textsAmong(orders, who, kept.done);
  const late = texts.flatMap((order) => {
    const why = lateness(order, progress);
    return why === null ? [] : [receiptOf(order, why, lateReasons[why], now)];
  });
  const due = texts.filter((order) => lateness(order, progress) === null);
  const passing = due.map((order) => receiptOf(order, 'delivered', null, now));
  const begun = answered(kept, late);
  folder.write({ ...begun, passing, done: [...begun.done, ...passing.map(({ orderId }) => orderId)] });
  return {
    texts: due.map(({ payload }) => ({ orderId: payload.orderId, text: payload.message ?? '' })),
    printed: async () => {
      const delivered = answered(begun, passing);
      folder.write(delivered);
      folder.write(await sendReceipts(delivered, gateway));
      folder.unlock();
    },
  };
};

/** The session after a record that no hook has folded, because the gateway was slow; null: a hook has folded it. */
const foldedHere = (folder: Folder, { offset, fold, limit }: Kept, { id }: SpoolRecord): Folded | null => {
  let before = fold;
  for (const { record } of readSpool(folder.spool, offset, false).entries) {
    const folded = foldRecord(before, record, () => limit);
    if (record.id === id) return folded;
    before = folded.fold;
  }
  return null;
};

/** The refusal of a record's call. */
const refusalOf = (folder: Folder, record: SpoolRecord): string | null => {
  const kept = folder.read();
  const known = kept.refusals[record.id];
  return known !== undefined ? known : (foldedHere(folder, kept, record)?.refusal ?? null);
};

/** What its agent is asked before the turn ends that a record ends. */
const questionOf = (folder: Folder, record: SpoolRecord): string | null => {
  const kept = folder.read();
  const { proof } = foldedHere(folder, kept, record)?.fold ?? kept.fold;
  return questionAtStop(proof ?? NO_PROOF, kept.askAtStop);
};

/** Another hook that sends keeps this from being recorded: the question may then be asked once more. */
const recordAsked = (folder: Folder): void => {
  if (!folder.lock()) return;
  const kept = folder.read();
  folder.write({ ...kept, fold: { ...kept.fold, proof: askedAtStop(kept.fold.proof ?? NO_PROOF) } });
  folder.unlock();
};

/** A session that no supervisor watches: the record is on the disk, and `ask` reports it to the gateway. */
export const sessionAtGateway = (
  url: string,
  record: SpoolRecord & { readonly session: string },
  transcript: () => Promise<Reader>,
  env: Environment,
  now: () => number,
  withinMs = ANSWER_MS,
): { readonly exchange: () => Promise<Answer>; readonly keep: (record: SpoolRecord) => void } => {
  const { client, session } = record;
  const gateway = { url: url.replace(/\/+$/, ''), token: tokenFrom(env), withinMs, now };
  const folder = openFolder(client, session, env, now);
  append(folder.spool, record);
  const deps = { folder, gateway, who: whoIs(client, session, env), transcript };
  return {
    keep: (more) => append(folder.spool, more),
    exchange: async () => {
      if (record.events.some(({ kind }) => kind === 'session_started')) removeExpired(env, now());
      const answer = await exchanged(deps, record);
      const refusal = record.canRefuse ? refusalOf(folder, record) : null;
      const question = record.continuesTurn ? questionOf(folder, record) : null;
      const printed = async () => {
        await answer.printed();
        if (question !== null) recordAsked(folder);
      };
      return { ...answer, refusal, question, printed };
    },
  };
};

const hasMore = ({ folder, gateway }: Deps): boolean => {
  const { offset, unsent, awayUntil } = folder.read();
  if (unsent.length > 0) return gateway.now() >= awayUntil;
  return readSpool(folder.spool, offset, false).entries.length > 0;
};

/** The call that a record starts and that is still in flight; undefined: none. */
const openCall = ({ fold }: Kept, { events }: SpoolRecord): (SessionEvent & { kind: 'call_started' }) | undefined =>
  events
    .filter((event) => event.kind === 'call_started')
    .find(({ call, agent }) => {
      const { main, subagents } = fold.session;
      const { open = {} } = agent === null ? main : (subagents[agent] ?? {});
      return Object.hasOwn(open, call.call_id);
    });

/** A limit that the gateway has named with the answer to this very call refuses it: the call is not made, and is reported so. */
const withLateRefusal = (kept: Kept, record: SpoolRecord, who: Who, now: number): Kept => {
  const start = record.canRefuse && kept.unsent.length === 0 ? openCall(kept, record) : undefined;
  if (kept.limit === null || start === undefined || kept.refusals[record.id] !== undefined) return kept;
  const { call_id: callId, tool, args_hash: argsHash } = start.call;
  const refused: SessionEvent = { ...start, kind: 'call_refused', call: { callId, tool, argsHash } };
  const { fold, reports } = foldEvent(kept.fold, refused);
  const { agents, heartbeats } = heartbeatsOf(sentBefore(kept), reports, breakerReports(fold.breakers), who, now);
  return { ...withRefusalOf(kept, record.id, kept.limit), fold, agents, unsent: heartbeats };
};

/** A hook whose call may be refused waits for the one that sends, so that both decide by the same answer. */
const locked = async ({ folder, gateway }: Deps, { canRefuse }: SpoolRecord): Promise<boolean> => {
  const until = gateway.now() + gateway.withinMs;
  for (;;) {
    if (folder.lock()) return true;
    if (!canRefuse || gateway.now() >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
};

const exchanged = async (deps: Deps, record: SpoolRecord): Promise<Texts> => {
  const { folder, gateway, who } = deps;
  for (let left = ROUNDS; left > 0 && (await locked(deps, record)); left -= 1) {
    const sent = await round(deps).catch((error: unknown) => {
      folder.unlock();
      throw error;
    });
    if (record.takesText && sent.orders.length > 0) return take(deps, sent);
    const kept = withLateRefusal(sent.kept, record, who, gateway.now());
    if (kept !== sent.kept) folder.write(kept);
    folder.unlock();
    if (!hasMore(deps)) return nothing;
  }
  return nothing;
};
