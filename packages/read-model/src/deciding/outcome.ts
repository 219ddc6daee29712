import { type ContentOf, Topic, type TopicName } from '@vigil/events';
import type { Entry } from '../queries/journal.ts';

/** What became of a command. `pending`: no service has answered it yet, or its step waits. */
export type Outcome = {
  readonly eventId: string;
  readonly outcome: 'pending' | 'applied' | 'refused';
  /**
   * why it was refused, or what it waits for; null: it was applied, or nothing has been reported. Commands that were written at once have
   * their count here, such as "3 of 3 confirmed", and a test of a channel where it was delivered
   */
  readonly reason: string | null;
  /** when that for which it waits is due at the latest, epoch milliseconds; null: it waits for nothing that has a deadline */
  readonly until: number | null;
  /** what it has caused, oldest first */
  readonly events: readonly Entry[];
};

/** What the dashboard answers to a command: at least one event, the first under the id of the command. */
export type WrittenCommand = {
  readonly eventId: string;
  readonly topic: string;
  readonly type: string;
  readonly key: string;
  /** keys of further events of the same kind */
  readonly alsoFor: readonly string[];
  /** of all events */
  readonly eventIds: readonly string[];
};

type Answer = 'applied' | 'refused';

/** The events with which a service answers a command when it reads it. */
export const ANSWERS: { readonly [T in TopicName]?: { readonly [K in ContentOf<T>['type']]?: Answer } } = {
  [Topic.agentHealth]: {
    HOLD_CHANGED: 'applied',
    HOLD_REFUSED: 'refused',
    CONTROL_APPLIED: 'applied',
    CONTROL_REFUSED: 'refused',
    // The agent holds the breaker itself, and is asked to close it.
    BREAKER_RESET_ASKED: 'applied',
  },
  [Topic.agentIntervention]: { ESCALATION_DECIDED: 'applied', DECISION_REFUSED: 'refused', TASK_BLOCKED: 'applied' },
  [Topic.agentRequest]: { REQUEST_ANSWERED: 'applied', ANSWER_REFUSED: 'refused' },
  [Topic.fleetGovernance]: {
    FLEET_HALTED: 'applied',
    FLEET_RESUMED: 'applied',
    BRAKE_RELEASED: 'applied',
    DRY_RUN_CHANGED: 'applied',
  },
  [Topic.taskRecovery]: { REVIEW_DECIDED: 'applied', RECOVERY_REFUSED: 'refused' },
  [Topic.alert]: {
    // A test of a channel raises an alert of its own.
    ALERT_RAISED: 'applied',
    ALERT_RESOLVED: 'applied',
    ALERT_ACKNOWLEDGED: 'applied',
    SILENCE_CHANGED: 'applied',
    QUEEN_INTERVENTION_REQUESTED: 'applied',
  },
  [Topic.policy]: { POLICY_PUBLISHED: 'applied', POLICY_REFUSED: 'refused' },
};

/** The events that end a step by hand. A case that closes has done its step before, or never. */
const STEPS: { readonly [K in ContentOf<typeof Topic.agentIntervention>['type']]?: Answer } = {
  AGENT_TERMINATED: 'applied',
  STEP_SKIPPED: 'refused',
  TERMINATION_UNCONFIRMED: 'refused',
  DECISION_LAPSED: 'refused',
  CASE_CLOSED: 'refused',
};

const answers: Readonly<Record<string, Answer>> = Object.assign({}, STEPS, ...Object.values(ANSWERS));

type Reasons = Partial<Readonly<Record<'reason' | 'detail' | 'why' | 'mistakes', unknown>>>;

const reasonOf = ({ payload }: Entry): string | null => {
  const { reason, detail, why, mistakes } = payload as Reasons;
  if (Array.isArray(mistakes)) return mistakes.join('\n');
  const texts = [reason ?? why, detail].filter((text) => typeof text === 'string' && text !== '');
  return texts.length === 0 ? null : texts.join(': ');
};

type Raised = { readonly route?: unknown; readonly sinks?: readonly string[]; readonly text?: unknown };

/** The alert that a test of a channel raises; null: it is none. */
const testIn = ({ type, payload }: Entry): Raised | null =>
  type === 'ALERT_RAISED' && (payload as Raised).route === 'channel_test' ? (payload as Raised) : null;

/** The alert of a test of an unknown channel has no sink; its text is the reason. Any other alert has one. */
const refusedTestOf = (entry: Entry): string | null => {
  const { sinks, text } = testIn(entry) ?? {};
  return sinks?.length === 0 && typeof text === 'string' ? text : null;
};

type Wait = Pick<Outcome, 'reason' | 'until'>;

const NO_WAIT: Wait = { reason: null, until: null };

type Deadlines = Partial<Readonly<Record<'ttlMs' | 'graceMs' | 'cleanupMs' | 'deadlineAt', number>>>;

/** A text by hand waits for its agent for a minute. */
const TEXT_MS = 60_000;
/** What a runtime takes at most beside grace and clean-up, as intervention counts it. */
const ENDING_MS = 60_000;

const waitForFresh = (agent: string): Wait => ({
  reason: `waits for a fresh agent in place of ${agent}, which has ended`,
  until: null,
});

/** What each step waits for when its order is given, and what a recovery waits for after an end. */
const WAITS: Readonly<Record<string, (agent: string, at: number, deadlines: Deadlines) => Wait>> = {
  TERMINATE_AGENT: (agent, at, { ttlMs = 0, graceMs = 0, cleanupMs = 0 }) => ({
    reason: `waits for ${agent} to end, at most until ${new Date(at + graceMs).toISOString().slice(11, 19)} UTC; then it is killed`,
    until: at + ttlMs + graceMs + cleanupMs + ENDING_MS,
  }),
  HANDOFF_REQUESTED: (agent, _at, { deadlineAt }) => ({
    reason: `waits until ${agent} has the request`,
    until: deadlineAt ?? null,
  }),
  NUDGE_SENT: (agent, at) => ({ reason: `waits until ${agent} has the text`, until: at + TEXT_MS }),
  AGENT_TERMINATED: waitForFresh,
  CASE_CLOSED: waitForFresh,
  // The order has the first half of the time that a fresh agent has for its first heartbeat.
  SPAWN_AGENT: (agent, at, { ttlMs = 0 }) => ({
    reason: `waits for the first heartbeat of ${agent}`,
    until: at + 2 * ttlMs,
  }),
};

const REPORTED_WAITS: readonly string[] = ['CASE_WITHHELD', 'RECOVERY_WAITING', 'SPAWN_IMPOSSIBLE'];

/** What a step that is not decided waits for. */
const waitOf = (events: readonly Entry[]): Wait => {
  const newest = events.at(-1);
  if (newest !== undefined && REPORTED_WAITS.includes(newest.type)) return { reason: reasonOf(newest), until: null };
  const ordered = events.findLast(({ type }) => WAITS[type] !== undefined);
  if (ordered === undefined) return NO_WAIT;
  const { type, agentId, at, payload } = ordered;
  return WAITS[type]?.(agentId ?? 'the agent', at, payload as Deadlines) ?? NO_WAIT;
};

type Delivery = { readonly sink?: unknown; readonly ok?: unknown; readonly detail?: unknown };

/** Where a test message is delivered; null: the command is not a test of a channel that exists. */
const testOf = (eventId: string, events: readonly Entry[]): Outcome | null => {
  const sinks = events.map(testIn).find((raised) => raised !== null)?.sinks ?? [];
  if (sinks.length === 0) return null;
  const deliveries = events.filter(({ type }) => type === 'ALERT_DELIVERED').map(({ payload }) => payload as Delivery);
  const reached = sinks.filter((sink) => deliveries.some((one) => one.sink === sink && one.ok === true));
  const missed = sinks.filter((sink) => !reached.includes(sink));
  const failures = missed.flatMap((sink) => deliveries.find((one) => one.sink === sink) ?? []);
  const texts = [
    ...(reached.length > 0 ? [`delivered to ${reached.join(', ')}`] : []),
    ...failures.map(({ sink, detail }) => `not delivered to ${sink}${typeof detail === 'string' ? `: ${detail}` : ''}`),
  ];
  if (reached.length + failures.length < sinks.length) {
    const waiting = `waits for the delivery to ${missed.join(', ')}`;
    return { eventId, outcome: 'pending', reason: [...texts, waiting].join('; '), until: null, events };
  }
  const outcome = failures.length === 0 ? 'applied' : 'refused';
  return { eventId, outcome, reason: texts.join('; '), until: null, events };
};

/** A recovery of an agent that has ended skips its end, and continues: that decides nothing. */
const isSkippedEnd = ({ type, payload }: Entry): boolean => {
  const { step, why } = payload as { readonly step?: unknown; readonly why?: unknown };
  return type === 'STEP_SKIPPED' && step === 'terminate' && why === 'no_instance';
};

const TEXTS: readonly unknown[] = ['nudge', 'handoff'];
const REACHED: readonly unknown[] = ['delivered', 'answered', 'done', 'uncertain'];

type Receipt = { readonly kind?: unknown; readonly outcome?: unknown; readonly why?: unknown };

/** Why the text or the handoff of a request has not reached its agent; null: it has, may have, or no receipt has come. */
const undeliveredBecause = (events: readonly Entry[]): string | null => {
  const receipts = events
    .filter(({ type }) => type === 'ORDER_RECEIPT')
    .map(({ payload }) => payload as Receipt)
    .filter(({ kind, outcome }) => TEXTS.includes(kind) && outcome !== 'halted');
  const newest = receipts.at(-1);
  if (newest === undefined || receipts.some(({ outcome }) => REACHED.includes(outcome))) return null;
  return `not delivered (${newest.outcome})${typeof newest.why === 'string' ? `: ${newest.why}` : ''}`;
};

/** What an agent does after it has read a text. */
const ENDED_BY_AGENT: readonly unknown[] = ['recovered', 'pardoned'];

/** A case that closes as executed has done its steps. A text or a hand-off is done when its agent has it. */
const answerOf = ({ type, payload }: Entry): Answer | undefined => {
  const { ending } = payload as { readonly ending?: unknown };
  const { kind, outcome } = payload as Receipt;
  if (type === 'ORDER_RECEIPT' && TEXTS.includes(kind) && REACHED.includes(outcome)) return 'applied';
  return type === 'CASE_CLOSED' && ending === 'executed' ? 'applied' : answers[type];
};

/** The agent has read its text: it has answered, or works again. */
const isAfterText = ({ type, payload }: Entry, events: readonly Entry[]): boolean =>
  type === 'CASE_CLOSED' &&
  ENDED_BY_AGENT.includes((payload as { readonly ending?: unknown }).ending) &&
  events.some((one) => one.type === 'NUDGE_SENT');

/** Of commands that were written at once. `groupId` null: the answer is to the first of them. */
type Grouped = { readonly groupId?: unknown; readonly of?: unknown };

/** The answers to commands that were written at once. Null: the command is alone, or is not their first. */
const groupOf = (
  eventId: string,
  events: readonly Entry[],
): { readonly of: number; readonly answers: readonly Entry[] } | null => {
  const answers = events.filter((one) => {
    const { groupId, of } = one.payload as Grouped;
    return answerOf(one) !== undefined && typeof of === 'number' && of > 1 && (groupId ?? eventId) === eventId;
  });
  const [first] = answers;
  return first === undefined ? null : { of: (first.payload as { readonly of: number }).of, answers };
};

const ofAll = (
  eventId: string,
  events: readonly Entry[],
  { of, answers }: NonNullable<ReturnType<typeof groupOf>>,
): Outcome => {
  const refused = answers.filter((one) => answerOf(one) === 'refused');
  const count = `${answers.length - refused.length} of ${of} confirmed`;
  const reason = [count, ...refused.map(reasonOf)].filter((text) => text !== null).join('; ');
  if (answers.length < of) return { eventId, outcome: 'pending', reason, until: null, events };
  return { eventId, outcome: refused.length === 0 ? 'applied' : 'refused', reason, until: null, events };
};

/** A person has requested the end of an agent, and a fresh one for its task. */
const isRecovery = (events: readonly Entry[]): boolean =>
  events.some(
    ({ type, payload }) =>
      type === 'CASE_OPENED' &&
      (payload as { readonly planName?: unknown }).planName === 'by hand: terminate_and_recover',
  );

/** The events of a recovery that decide a request for one. The end of the agent, and of its case, do not. */
const RECOVERIES: { readonly [K in ContentOf<typeof Topic.taskRecovery>['type']]?: Answer } = {
  RECOVERY_COMPLETED: 'applied',
  RECOVERY_FAILED: 'refused',
  RECOVERY_REFUSED: 'refused',
  REVIEW_REQUIRED: 'refused',
  TASK_RELEASED: 'refused',
};

const recoveryAnswers: Readonly<Record<string, Answer>> = RECOVERIES;

const recoveryAnswerOf = (one: Entry): Answer | undefined =>
  recoveryAnswers[one.type] ?? (answerOf(one) === 'refused' && !isSkippedEnd(one) ? 'refused' : undefined);

/** The outcome of a request for a recovery: that of the recovery of the task. */
const ofRecovery = (eventId: string, events: readonly Entry[]): Outcome => {
  const at = events.findIndex((one) => recoveryAnswerOf(one) !== undefined);
  const deciding = events[at];
  if (deciding === undefined) return { eventId, outcome: 'pending', ...waitOf(events), events };
  const outcome = recoveryAnswerOf(deciding) ?? 'pending';
  const reason = outcome === 'refused' ? reasonOf(deciding) : null;
  return { eventId, outcome, reason, until: null, events: events.slice(0, at + 1) };
};

/** The first event that decides is the outcome; of commands written at once, all of their answers. `events`: oldest first. */
export const outcomeOf = (eventId: string, events: readonly Entry[]): Outcome => {
  if (isRecovery(events)) return ofRecovery(eventId, events);
  const group = groupOf(eventId, events);
  if (group !== null) return ofAll(eventId, events, group);
  const test = testOf(eventId, events);
  if (test !== null) return test;
  const undelivered = undeliveredBecause(events);
  if (undelivered !== null) return { eventId, outcome: 'refused', reason: undelivered, until: null, events };
  const deciding = events.find((one) => answerOf(one) !== undefined && !isSkippedEnd(one));
  const refusedTest = deciding === undefined ? null : refusedTestOf(deciding);
  if (refusedTest !== null) return { eventId, outcome: 'refused', reason: refusedTest, until: null, events };
  if (deciding !== undefined && isAfterText(deciding, events))
    return { eventId, outcome: 'applied', reason: null, until: null, events };
  const outcome = deciding === undefined ? 'pending' : (answerOf(deciding) ?? 'pending');
  if (outcome === 'pending') return { eventId, outcome, ...waitOf(events), events };
  const isRefused = outcome === 'refused' && deciding !== undefined;
  return { eventId, outcome, reason: isRefused ? reasonOf(deciding) : null, until: null, events };
};
