import { resultHash } from '../calls/hashes.ts';
import * as field from './fields.ts';
import { type KnownActivity, type KnownExitReason, type KnownVerdict, LONGEST, MOST, type Time } from './fields.ts';
import { failed, type Lasting, lasting, type Notes, once, stepped } from './notes.ts';

export type Work = {
  readonly id: string;
  readonly status?: string | null | undefined;
  readonly updatedAt?: Time | null | undefined;
  readonly claimRefreshedAt?: Time | null | undefined;
  readonly commentCount?: number | null | undefined;
};

/** What an agent reports about itself. An omitted field keeps its value. */
export type Report = {
  readonly phase?: string | undefined;
  /** any text that changes as the work proceeds: `3/10` */
  readonly progress?: string | undefined;
  readonly activity?: KnownActivity | undefined;
  /** used since the last report: the SDK adds them up */
  readonly tokens?: number | undefined;
  readonly context?: { readonly used: number; readonly max: number } | undefined;
  /** the ticket or issue as its tracker has it */
  readonly work?: Work | undefined;
  /** a step is done; with its rating if a judge rates steps */
  readonly step?: KnownVerdict | true | undefined;
  readonly limits?: readonly { readonly name: string; readonly used: number; readonly max: number }[] | undefined;
  /** what it waits for; an answer to a nudge */
  readonly blockers?: readonly string[] | undefined;
  /** what the next agent needs; an answer to a nudge */
  readonly handoff?: string | undefined;
  /** until when it is rate limited; true: unknown */
  readonly rateLimitedUntil?: Time | true | undefined;
};

const workOf = (work: unknown): Lasting['work'] => {
  const { id, status, updatedAt, claimRefreshedAt, commentCount } = (work ?? {}) as Partial<Work>;
  const name = field.text(id, LONGEST.name);
  if (name === null) return null;
  return {
    id: name,
    status: field.text(status, LONGEST.short),
    updated_at: field.time(updatedAt),
    claim_refreshed_at: field.time(claimRefreshedAt),
    comment_count: field.count(commentCount),
  };
};

const contextOf = (context: unknown): Lasting['context'] => {
  const { used, max } = (context ?? {}) as { readonly used?: unknown; readonly max?: unknown };
  const [tokens_used, tokens_max] = [field.count(used), field.count(max)];
  return tokens_used === null || tokens_max === null ? null : { tokens_used, tokens_max };
};

const limitsOf = (limits: unknown): Lasting['limits'] =>
  Array.isArray(limits)
    ? limits.slice(0, MOST.limits).flatMap((limit) => {
        const { name, used, max } = (limit ?? {}) as Record<string, unknown>;
        const called = field.text(name, LONGEST.name);
        return called !== null && Number.isFinite(used) && Number.isFinite(max)
          ? [{ name: called, used: used as number, max: max as number }]
          : [];
      })
    : [];

/** Only the fields that were given and are valid. */
const given = (changes: { readonly [K in keyof Lasting]?: Lasting[K] | null }): Partial<Lasting> =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)) as Partial<Lasting>;

export const reported = (notes: Notes, report: Report): Notes => {
  const { phase, progress, activity, tokens, context, work, limits } = report;
  const used = field.count(tokens);
  const after = lasting(
    notes,
    given({
      phase: field.text(phase, LONGEST.name),
      progress_indicator: field.text(progress, LONGEST.text),
      activity: field.activity(activity),
      token_count: used === null ? null : Math.min((notes.lasting.token_count ?? 0) + used, Number.MAX_SAFE_INTEGER),
      context: contextOf(context),
      work: workOf(work),
      limits: limits === undefined ? null : limitsOf(limits),
    }),
  );
  return answeredWith(stepDone(after, report.step), report);
};

const stepDone = (notes: Notes, step: unknown): Notes => {
  const verdict = field.verdict(step);
  return step === true || verdict !== null ? stepped(notes, verdict) : notes;
};

const answeredWith = (notes: Notes, { blockers, handoff, rateLimitedUntil: until }: Report): Notes => ({
  ...notes,
  once: {
    ...notes.once,
    blockers: blockers === undefined ? notes.once.blockers : field.texts(blockers, MOST.blockers, 1000),
    handoff: field.text(handoff, LONGEST.answer) ?? notes.once.handoff,
    rate_limit: until === undefined ? notes.once.rate_limit : { retry_at: field.time(until) },
  },
});

/** Worth a heartbeat of its own: a caller may wait for it. */
export const isUrgent = ({ activity, blockers, handoff, rateLimitedUntil, work }: Report): boolean =>
  [activity, blockers, handoff, rateLimitedUntil, work].some((changes) => changes !== undefined);

/** Counts an error, even if the agent handles it. */
export const erred = (notes: Notes, errorClass: string, message: string | null, at: number): Notes =>
  failed(notes, {
    at,
    count: 1,
    error_class: field.text(errorClass, LONGEST.short),
    hash: resultHash(message ?? undefined, true, at),
    message,
  });

export const probeAnswered = (notes: Notes, nonce: string): Notes =>
  once(notes, { probe_reply: field.text(nonce, LONGEST.name) });

/**
 * How the agent ends. Without a runtime, `finished` and `explicit` end it. Any other reason is a hint, because only a
 * confirmed death moves its task to another agent.
 * Under a runtime every reason is a hint: the runtime observes the end.
 */
export type Ending = {
  /** default: finished */
  readonly reason?: KnownExitReason | undefined;
  readonly code?: number | undefined;
  /** how long pending reports may take to go out, milliseconds; default 2000 */
  readonly withinMs?: number | undefined;
};

const FLUSH_MS = 2000;
const LONGEST_FLUSH_MS = 60_000;

export const withinOf = ({ withinMs }: Ending): number => Math.min(field.count(withinMs) ?? FLUSH_MS, LONGEST_FLUSH_MS);

/** A crashed agent has to count as silent: `exiting` would excuse its silence. */
const activityAt = (why: KnownExitReason): Lasting['activity'] => {
  switch (why) {
    case 'finished':
      return 'finished';
    case 'explicit':
      return 'exiting';
    case 'crashed':
    case 'resource_limit':
    case 'lost':
      return null;
  }
};

/** Adds the end to the last heartbeat. */
export const ended = (notes: Notes, { reason, code }: Ending): Notes => {
  const why = field.reason(reason) ?? 'finished';
  return lasting(notes, {
    activity: activityAt(why),
    exit: { code: field.small(code), signal: null, reason: why },
  });
};
