import { admitsFrom } from '@vigil/circuit-breaker';
import { usableCheckpoints } from '@vigil/events';
import { utcTime } from '@vigil/policy';
import { healthcheck } from '../adapters/omniclaude-healthcheck.ts';
import { checkpointIn } from '../checkpoints/checkpoints.ts';
import { admitSpawn, breakerChanged, initiated, type Output, taskStory, withdrawn } from './drafts.ts';
import { evolve, lapsed } from './evolve.ts';
import { assigneeOf, awaitsEnd, confirmedAssignees, instanceKey, ownAssignee } from './instances.ts';
import type { Input } from './observe.ts';
import { objectionTo } from './observe-request.ts';
import { rivals, rivalsOf } from './rivals.ts';
import { attemptOf, limitOf, probationFailure, type Recovery, type Subject } from './state.ts';

/** Answers a refused request, then emits all outputs that are due now. Folds each output before the next decision. */
export const decide = (before: Recovery, now: number, input: Input | null): readonly Output[] => [
  ...refusalOf(before, input),
  ...dueOutputs(before, now),
];

/** A person whose request for a recovery, or whose decision in a review, is refused is notified of the reason. */
const refusalOf = (state: Recovery, input: Input | null): readonly Output[] => {
  if (input?.type === 'REVIEW_TASK') return reviewRefusal(state, input.payload);
  if (input?.type !== 'RECOVER_TASK') return [];
  const { agentId, caseId, by } = input.payload;
  const reason = by === null ? null : objectionTo(state, input.payload);
  return by === null || reason === null ? [] : [taskStory(state, 'RECOVERY_REFUSED', { agentId, caseId, by, reason })];
};

type Review = Extract<Input, { readonly type: 'REVIEW_TASK' }>['payload'];

/** A review that takes the decision has it in its state by now. */
const reviewRefusal = (state: Recovery, { decision, by }: Review): readonly Output[] => {
  const { situation, subject, taskId } = state;
  if (situation.kind === 'review' && situation.review !== null) return [];
  const reason =
    situation.kind === 'review'
      ? 'there is no such decision: retry, abandon or reset'
      : `${decision} changes nothing: the task is not in review, or the first answer has decided it`;
  const about = { agentId: subject?.agentId ?? state.lastAssignee?.agentId ?? taskId, caseId: subject?.caseId ?? null };
  return [taskStory(state, 'RECOVERY_REFUSED', { ...about, by, reason })];
};

const dueOutputs = (before: Recovery, now: number): readonly Output[] => {
  let state = lapsed(before, now);
  const emitted: Output[] = [];
  const emit = (drafts: readonly Output[]): boolean => {
    for (const draft of drafts) state = evolve(state, draft);
    emitted.push(...drafts);
    return drafts.length > 0;
  };
  while (emit(withdrawn(state)) || emit(breakerChanged(state)) || emit(next(state, now)));
  emit(rivals(state, now));
  emit(healthcheck(state, now));
  const { subject } = state;
  return emitted.map((draft) => ({
    ...draft,
    correlationId: subject?.correlationId,
    policy: subject?.policy ?? null,
  }));
};

const next = (state: Recovery, now: number): readonly Output[] => {
  const { situation, subject } = state;
  if (!subject) return [];
  switch (situation.kind) {
    case 'idle':
    case 'stable':
      return [];
    case 'waiting':
      if (situation.isDoubted && now < doubtIsOverAt(state, subject, situation)) return [];
      return heldAlready(state) ?? whileWaiting(state, subject, situation, now);
    case 'requesting':
      return heldAlready(state) ?? impossible(state, subject, situation);
    case 'admitted':
      return heldAlready(state) ?? initiated(state, subject, situation);
    case 'refused':
      return failed(state, situation.why);
    case 'spawning':
      return heldBy(state, situation.attempt.agentId);
    case 'probation':
      return onProbation(state, subject, situation, now);
    case 'review':
      return reviewed(state, situation);
    case 'over':
      return [taskStory(state, 'TASK_RELEASED', { why: situation.why, detail: situation.detail })];
  }
};

type In<K extends Recovery['situation']['kind']> = Extract<Recovery['situation'], { readonly kind: K }>;

/** After so many withheld spawns in a row, in some 95 s, people are notified that no agent has the task. */
const REFUSALS_TO_REPORT = 5;

const whileWaiting = (state: Recovery, subject: Subject, waiting: In<'waiting'>, now: number): readonly Output[] => {
  const limit = limitOf(state, subject);
  if (isSpent(state, subject))
    return failed(state, `${state.attempts} of ${limit} attempts used: ${waiting.why}`, {
      ...{ of: limit, endedByItself: waiting.endedByItself === true },
    });
  if (waiting.limitedUntil !== undefined && now < waiting.limitedUntil) {
    const reason = `${subject.agentId} had reached a limit that holds until ${utcTime(waiting.limitedUntil)}`;
    return [taskStory(state, 'RECOVERY_WAITING', { reason, refusals: 0, ...endOf(subject) })];
  }
  if (waiting.withheld >= REFUSALS_TO_REPORT && !waiting.isWaitingReported)
    return [
      taskStory(state, 'RECOVERY_WAITING', {
        reason: waiting.refusal ?? '',
        refusals: waiting.withheld,
        ...endOf(subject),
      }),
    ];
  if (now < requestAt(state, subject, waiting)) return [];
  return [...(state.breaker.state === 'OPEN' ? breakerChanged(state, 'HALF_OPEN') : []), admitSpawn(state, subject)];
};

/** Reported once: the governor keeps the request, and admits it when a runtime announces a matching template. */
const impossible = (state: Recovery, subject: Subject, { impossible }: In<'requesting'>): readonly Output[] =>
  impossible === null || impossible.isReported
    ? []
    : [
        taskStory(state, 'SPAWN_IMPOSSIBLE', {
          reason: impossible.reason,
          labels: subject.labels,
          ...endOf(subject),
        }),
      ];

/** The dead agent, how it ended, and the last lines that it printed, for people. */
const endOf = ({ agentId, reason, lastOutput = [] }: Subject) => ({ agentId, cause: reason, lastOutput });

const isSpent = (state: Recovery, subject: Subject): boolean => state.attempts >= limitOf(state, subject);

/** A person does not wait for the breaker. */
const requestAt = (state: Recovery, subject: Subject, { dueAt, immediate }: In<'waiting'>): number =>
  immediate ? dueAt : Math.max(dueAt, admitsFrom(state.breaker, subject.settings.breaker));

/** A limit of the dead agent may make the wait much longer. */
const doubtIsOverAt = (state: Recovery, subject: Subject, waiting: In<'waiting'>): number =>
  waiting.immediate ? waiting.dueAt : (waiting.doubtedUntil ?? requestAt(state, subject, waiting));

/**
 * Is recovery still needed? An own attempt that was given up and is alive continues. Any other living assignee keeps the task. Recovery waits
 * for an instance whose end it awaits.
 */
const heldAlready = (state: Recovery): readonly Output[] | undefined => {
  const assignees = confirmedAssignees(state).filter((one) => instanceKey(one) !== state.endAwaited);
  const own = ownAssignee(state, assignees);
  if (own) return heldBy(state, own.agentId);
  const other = assignees.at(-1);
  if (!other) return awaitsEnd(state) ? [] : undefined;
  return [taskStory(state, 'TASK_RELEASED', { why: 'reassigned', detail: `held by ${other.agentId}` })];
};

const heldBy = (state: Recovery, agentId: string): readonly Output[] => {
  const assignee = assigneeOf(state, agentId);
  const attempt = attemptOf(state, agentId);
  if (!assignee || !attempt) return [];
  const payload = { newAgentId: agentId, instanceId: assignee.instanceId, attempt: attempt.number };
  return [taskStory(state, 'RECOVERY_COMPLETED', payload)];
};

/** After the end of an attempt on probation, milliseconds: a plan that recovers requests it within seconds. */
const REQUEST_FOLLOWS_MS = 300_000;

/**
 * Why an attempt failed that an order ended before it was bad. Where a person ordered it, their request follows, and
 * starts the next attempt. Where a plan did, the request of its case follows: under `on_probation_failure: review`,
 * people decide then.
 */
const ENDED_BY_ORDER = 'explicit';

const onProbation = (
  state: Recovery,
  subject: Subject,
  { attempt, since, failing, goneAt }: In<'probation'>,
  now: number,
): readonly Output[] => {
  const { onProbationFailure, probationMs } = subject.settings;
  if (failing !== null) {
    const reason = probationFailure(attempt.number, failing);
    const isEndedByOrder = failing === ENDED_BY_ORDER;
    if (onProbationFailure === 'review' && !isEndedByOrder) return failed(state, reason);
    if (goneAt === undefined || now < goneAt + REQUEST_FOLLOWS_MS) return [];
    const detail = `${attempt.agentId} was stopped, and no request for another agent followed`;
    return isEndedByOrder ? [taskStory(state, 'TASK_RELEASED', { why: 'left', detail })] : failed(state, reason);
  }
  if (now < since + probationMs) return [];
  return [taskStory(state, 'PROBATION_PASSED', { agentId: attempt.agentId, attempt: attempt.number })];
};

/** How many attempts there were, and whether the last agent ended by itself. */
type UsedUp = { readonly of: number | null; readonly endedByItself: boolean };
const NOT_USED_UP: UsedUp = { of: null, endedByItself: false };

const failed = (state: Recovery, reason: string, used: UsedUp = NOT_USED_UP): readonly Output[] => {
  const attempts = state.attempts;
  const agentId = state.tried.at(-1)?.agentId ?? state.subject?.agentId ?? null;
  const [newest] = usableCheckpoints(state.checkpoints).from;
  const checkpoint = newest === undefined ? null : checkpointIn(newest);
  const lastOutput = state.subject?.lastOutput ?? [];
  return [
    taskStory(state, 'RECOVERY_FAILED', { reason, attempts }),
    taskStory(state, 'REVIEW_REQUIRED', { reason, attempts, agentId, checkpoint, ...used, lastOutput }),
  ];
};

const reviewed = (state: Recovery, { review }: In<'review'>): readonly Output[] => {
  if (!review) return [];
  const { decision, by, why } = review;
  return [taskStory(state, 'REVIEW_DECIDED', { decision, by, why })];
};

/** The next moment at which only time changes the state; now, if a deadline has passed without its event. */
export const dueAt = (before: Recovery, now: number): number => {
  const state = lapsed(before, now);
  if (healthcheck(state, now).length > 0) return now;
  return Math.min(situationDueAt(state, now), ...rivalsOf(state).map(({ from }) => from));
};

const situationDueAt = (state: Recovery, now: number): number => {
  const { situation, subject } = state;
  if (!subject) return Number.POSITIVE_INFINITY;
  switch (situation.kind) {
    case 'waiting': {
      if (awaitsEnd(state)) return Number.POSITIVE_INFINITY;
      if (!situation.isDoubted && (heldAlready(state) ?? []).length > 0) return now;
      if (state.breaker.state !== state.emitted.breaker) return now;
      if (situation.isDoubted && situation.limitedUntil !== undefined) return doubtIsOverAt(state, subject, situation);
      const from = requestAt(state, subject, situation);
      return isSpent(state, subject) && !situation.isDoubted ? now : from;
    }
    case 'spawning':
      return situation.deadlineAt + 1;
    case 'probation':
      if (situation.failing === null) return situation.since + subject.settings.probationMs;
      return (situation.goneAt ?? Number.POSITIVE_INFINITY) + REQUEST_FOLLOWS_MS;
    case 'idle':
    case 'requesting':
    case 'admitted':
    case 'refused':
    case 'stable':
    case 'review':
    case 'over':
      return Number.POSITIVE_INFINITY;
  }
};
