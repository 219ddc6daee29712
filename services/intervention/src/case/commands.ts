import { Topic } from '@vigil/events';
import { type ActiveCase, type Decision, deadlineOf, FRESH_MS } from './active-case.ts';
import type { CaseContext } from './case-context.ts';
import { caseEvent, closed, decisionLapsed, refusal, withdraw } from './drafts.ts';
import { contextOfRequest, requestedHandoff, requestedTerminate } from './observe/case-context.ts';
import { contextIn, isOfPreviousInstance } from './observe/instance.ts';
import { givenTime, handingOff, terminating } from './observe/replan.ts';
import { opening, refusalToPerson } from './opening.ts';
import { answerTo, type Ruling } from './ruling.ts';
import {
  type CaseDraft,
  type CaseInput,
  type CaseState,
  type DraftOf,
  type InputOf,
  inCase,
  unknownInstance,
} from './state.ts';
import { resumed } from './steps/pause.ts';
import { unreachable } from './steps/step.ts';

type DecideCase = InputOf<'DECIDE_CASE'>['payload'];
type Request = InputOf<'REQUEST_STEP'>;

/** The default length of "more time", milliseconds. */
export const DEFAULT_MORE_TIME_MS = 600_000;
/** How often a case may get more time while nothing progresses. */
const MOST_MORE_TIME = 2;

/** Answers a command at once: executes it, or refuses it with the reason. Other inputs need no answer. */
export const answer = (state: CaseState, input: CaseInput): readonly CaseDraft[] => {
  if (isOfPreviousInstance(state, input)) return [];
  if (input.type === 'DECIDE_CASE') return answerDecision(state, input.payload);
  if (input.type === 'REQUEST_STEP') return answerRequest(state, input);
  if (input.type === 'BLOCK_TASK') return [taskBlocked(state, input)];
  return input.type === 'BREAKER_RESET_ASKED' ? [resetOrder(state, input)] : [];
};

/** The case that a request opens. Without recovery settings in the request, those of the present case apply. */
export const contextAsked = (state: CaseState, request: Request): CaseContext =>
  contextOfRequest(request, state.instance, contextIn(state) ?? state.next);

/** The case that replaces the present one on a person's request; null: there is no such request, or it is refused. */
export const successorOf = (state: CaseState, input: CaseInput | null): CaseContext | null => {
  if (input?.type !== 'REQUEST_STEP') return null;
  const caseContext = contextAsked(state, input);
  if (isRepeated(state, caseContext)) return null;
  return requestRefusal(state, caseContext, input.payload.step) === null ? caseContext : null;
};

const answerDecision = (state: CaseState, command: DecideCase): readonly CaseDraft[] => {
  const found = openNamed(state, command.caseId);
  if (typeof found === 'string') return [refused(state, command, found)];
  const reason = objectionOf(found, command) ?? against(found, command);
  if (reason !== null) return [refused(state, command, reason)];
  const { decision, forMs, by, why } = command;
  const granted = decision === 'allow_more_time' ? (forMs ?? DEFAULT_MORE_TIME_MS) : forMs;
  return [caseEvent(found.caseContext, 'ESCALATION_DECIDED', { decision, forMs: granted, by, why })];
};

const openNamed = ({ situation, agentId, last }: CaseState, caseId: string): ActiveCase | string => {
  if (situation.kind === 'open' && situation.activeCase.caseContext.caseId === caseId) return situation.activeCase;
  if (last?.caseId === caseId) return `case ${caseId} is closed: it ended ${last.ending}`;
  if (situation.kind === 'open')
    return `the open case of ${agentId} is ${situation.activeCase.caseContext.caseId}, not ${caseId}`;
  if (situation.kind === 'asking' && situation.caseContext.caseId === caseId)
    return `case ${caseId} is not open yet: the governor has not admitted it`;
  return `no case of ${agentId} is open; ${caseId} is closed or was never opened`;
};

/**
 * Why a decision does not answer the question that it names, or null. The first answer decides: more time is one, although the escalation
 * continues. A decision without a question is made by hand, and needs none.
 */
const objectionOf = (
  { stepState, decision: earlier }: ActiveCase,
  { question, decision }: DecideCase,
): string | null => {
  if (question === null) return null;
  if (stepState.kind !== 'escalated')
    return earlier
      ? `its question is over: ${earlier.kind} has been decided, and the first answer decides`
      : 'its question is over: the case has no open question now';
  if (stepState.isAnswered) return 'its question is over: more time has been given, and the first answer decides';
  if (deadlineOf(stepState) !== question.deadlineAt) return 'its question is over: the case has another question now';
  const { options } = stepState;
  return options.includes(decision) ? null : `${decision} was not offered; choose one of ${options.join(', ')}`;
};

/** Why a decision is refused, or null. */
const against = (
  { stepState, moreTime, caseContext, death }: ActiveCase,
  { decision, forMs }: DecideCase,
): string | null => {
  if (stepState.kind === 'terminating') return 'its terminate has been ordered: only its receipt moves the case';
  const offered = stepState.kind === 'escalated' ? stepState.options : null;
  switch (decision) {
    case 'pardon':
      return null;
    case 'allow_more_time':
      if (forMs !== null && forMs <= 0) return `${forMs} ms is not a duration: give a positive number of milliseconds`;
      return moreTime.times < MOST_MORE_TIME ? null : `it has had more time ${moreTime.times} times without progress`;
    case 'terminate_and_recover':
      return death ? null : (unreachable(caseContext)?.detail ?? null);
    case 'force_handoff':
      return death ? 'the instance has ended already' : (unreachable(caseContext)?.detail ?? null);
    case 'UNKNOWN':
      return `there is no such decision${offered ? `; choose one of ${offered.join(', ')}` : ''}`;
  }
};

const refused = ({ agentId }: CaseState, { caseId, decision, by }: DecideCase, reason: string): CaseDraft =>
  refusal(agentId, { caseId, decision, by, reason });

/** A person's request: replaces an open case, unless an order is out that cannot be taken back. */
const answerRequest = (state: CaseState, request: Request): readonly CaseDraft[] => {
  const caseContext = contextAsked(state, request);
  if (isRepeated(state, caseContext)) return [];
  const { step } = request.payload;
  const reason = requestRefusal(state, caseContext, step);
  if (reason !== null)
    return [
      refusal(state.agentId, {
        caseId: openCaseId(state) ?? caseContext.caseId,
        decision: step,
        by: caseContext.by ?? '',
        reason,
      }),
    ];
  const { situation } = state;
  const why = `${caseContext.by} asks for ${step}`;
  switch (situation.kind) {
    case 'open':
      return [
        ...inFlight(situation.activeCase, why),
        ...(situation.activeCase.paused ? resumed(situation.activeCase, (state.instance?.number ?? 0) + 1) : []),
        closed(situation.activeCase.caseContext, 'superseded', why),
      ];
    case 'asking':
      return situation.stepState.kind === 'asked'
        ? [
            ...refusalToPerson(situation.caseContext, why),
            withdraw(situation.caseContext, situation.stepState.requestId, why),
          ]
        : [];
    case 'quiet':
    case 'unconfirmed':
      return [opening(state, caseContext)];
  }
};

/** A request that is written twice under one id opens one case. */
const isRepeated = ({ situation, last }: CaseState, { caseId }: CaseContext): boolean => {
  switch (situation.kind) {
    case 'open':
      return situation.activeCase.caseContext.caseId === caseId;
    case 'asking':
      return situation.caseContext.caseId === caseId || last?.caseId === caseId;
    case 'quiet':
    case 'unconfirmed':
      return last?.caseId === caseId;
  }
};

const openCaseId = ({ situation }: CaseState): string | null =>
  situation.kind === 'open' ? situation.activeCase.caseContext.caseId : null;

const inFlight = ({ caseContext, stepState, withdrawing }: ActiveCase, why: string): readonly CaseDraft[] => {
  const requestId = stepState.kind === 'asked' ? stepState.requestId : withdrawing;
  return requestId === null ? [] : [withdraw(caseContext, requestId, why)];
};

const requestRefusal = ({ instance, situation }: CaseState, caseContext: CaseContext, step: string): string | null => {
  if (caseContext.steps.length === 0)
    return `a person cannot request the step ${step}, only nudge, handoff, terminate, restart or terminate_and_recover`;
  if (instance && instance.instanceId !== caseContext.instanceId)
    return `${caseContext.agentId} is alive as ${instance.instanceId ?? 'an unnamed instance'}, not as ${caseContext.instanceId}`;
  if (situation.kind === 'open' && situation.activeCase.stepState.kind === 'terminating')
    return 'a terminate has been ordered: only its receipt moves the case';
  return endedRefusal(caseContext, step);
};

const endedRefusal = ({ ended, agentId, instanceId }: CaseContext, step: string): string | null =>
  ended && step !== 'terminate_and_recover' ? `${instanceId} of ${agentId} has ended already` : null;

/**
 * Leaves the task to people. It changes nothing for the agent, so it needs neither a case nor a ruling, and an open case continues.
 */
const taskBlocked = (
  { instance }: CaseState,
  { payload, eventId, correlationId, policy }: InputOf<'BLOCK_TASK'>,
): CaseDraft => {
  const { agentId, taskId, attempts, checkpoint: uri, labels, why } = payload;
  const about = {
    caseId: `case-${eventId}`,
    agentId,
    instanceId: instance?.instanceId ?? null,
    taskId,
    episodeId: null,
  };
  return {
    topic: Topic.agentIntervention,
    type: 'TASK_BLOCKED',
    key: agentId,
    correlationId,
    policy,
    payload: {
      ...about,
      labels,
      reason: why,
      // The first attempt has the number 0.
      attempt: attempts === 0 ? null : attempts - 1,
      checkpoint: uri === null ? null : { ...UNREAD, checkpointId: uri, uri },
      endedByItself: false,
    },
  };
};

/** A checkpoint without known content. */
const UNREAD = {
  ...{ parentId: null, sha256: null, valid: null, invalidReason: null, createdAt: null },
  ...{ completedWork: [], remainingWork: [] },
} as const;

/** How long the order is useful, milliseconds: a caller that requests no orders until then reports again anyway. */
const TTL_MS = 60_000;

/** Closing a breaker is harmless: it needs neither a case nor a ruling. */
export const resetOrder = (
  { agentId, instance }: CaseState,
  { payload: { name, taskId }, eventId, correlationId, policy }: InputOf<'BREAKER_RESET_ASKED'>,
): CaseDraft => {
  const { instanceId, runtimeId, number } = instance ?? unknownInstance;
  const orderId = `reset-${eventId}`;
  const about = { orderId, number: number + 1, agentId, instanceId, runtimeId: runtimeId ?? '', caseId: null, taskId };
  return {
    topic: Topic.agentOrder,
    type: 'RESET_BREAKER',
    key: agentId,
    correlationId,
    policy,
    payload: { ...about, ttlMs: TTL_MS, foldedSequence: null, axes: [], awaits: null, name },
  };
};

export const freshFrom = (kind: Decision['kind'], from: number): Decision => ({ kind, until: from + FRESH_MS });

/** A step of a decision may take its own time, and the time that people give it. */
export const beginsAgain = (activeCase: ActiveCase, from: number): ActiveCase =>
  activeCase.decision ? { ...activeCase, decision: freshFrom(activeCase.decision.kind, from) } : activeCase;

/** When a decision that waits for its admission expires; null: none waits. */
export const lapsesAt = ({ decision, stepState }: ActiveCase): number | null =>
  decision && stepState.kind === 'asked' ? decision.until : null;

/** The agent has ended, or runs as another instance, before the decision began: notifies people. */
export const droppedDecision = (activeCase: ActiveCase): readonly CaseDraft[] => {
  const { index, attempt, ending } = activeCase;
  const isBegun = index > 0 || attempt.sent > 0;
  return isBegun || ending?.ending !== 'superseded' ? [] : decisionLapsed(activeCase, ending.why);
};

/** Notifies people and closes the case. A finding that still holds opens the next one. */
export const lapsedDecision = (activeCase: ActiveCase, now: number, ruling: Ruling | null): readonly CaseDraft[] => {
  const { caseContext, decision, stepState } = activeCase;
  if (!decision || stepState.kind !== 'asked') return [];
  if (Math.max(now, answerTo(stepState, ruling)?.since ?? 0) < decision.until) return [];
  const why = stepState.withheld ? `${stepState.withheld.why}: ${stepState.withheld.detail}` : 'it waited for its turn';
  const over = `what ${caseContext.by} decided could not be begun for ${FRESH_MS / 60_000} min (${why})`;
  return [
    withdraw(caseContext, stepState.requestId, over),
    ...decisionLapsed(activeCase, why),
    closed(caseContext, 'withheld', over),
  ];
};

/** Executes a person's decision. */
export const decided = (state: CaseState, { payload }: DraftOf<'ESCALATION_DECIDED'>, now: number): CaseState =>
  inCase(state, (activeCase) => following(activeCase, payload, now));

const following = (
  activeCase: ActiveCase,
  payload: DraftOf<'ESCALATION_DECIDED'>['payload'],
  now: number,
): ActiveCase => {
  const { decision, by, why, forMs } = payload;
  switch (decision) {
    case 'pardon':
      return { ...activeCase, ending: { ending: 'pardoned', why: `${by}: ${why}` } };
    case 'allow_more_time':
      return beginsAgain(givenTime(activeCase, now + (forMs ?? 0)), now + (forMs ?? 0));
    case 'terminate_and_recover': {
      const step = activeCase.caseContext.steps.find((planned) => planned.step === 'terminate') ?? requestedTerminate;
      return { ...terminating(activeCase, by, { ...step, requires: [] }), decision: freshFrom(decision, now) };
    }
    case 'force_handoff': {
      const step = activeCase.caseContext.steps.find((planned) => planned.step === 'handoff') ?? requestedHandoff;
      return { ...handingOff(activeCase, by, step), decision: freshFrom(decision, now) };
    }
    case 'UNKNOWN':
      return activeCase;
  }
};
