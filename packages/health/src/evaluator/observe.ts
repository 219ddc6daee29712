import { type EventOf, principalText, type Topic } from '@vigil/events';
import { type Clock, Unwelcome } from '@vigil/stream';
import { countNamed } from '../announce/spending.ts';
import { breakersAfter } from '../history/calls/breakers.ts';
import { declaresProgress } from '../history/calls/heartbeat-delta.ts';
import { limitedBy, type RateLimit } from '../history/calls/rate-limits.ts';
import { hash32 } from '../history/hash.ts';
import { type End, type History, historyAfter, initialHistory, lastLinesOf, received } from '../history/history.ts';
import { type Identity, identityOf } from '../history/identity.ts';
import { axisThrough, type Heartbeat, momentOn, OWN_AXIS, type Receipt } from '../history/moment.ts';
import { type LookedFor, matchesAfter, textsOf } from '../history/presence/matches.ts';
import { checkpointAtEnd } from '../history/progress/checkpoints.ts';
import { progressEvidenceAfter } from '../history/progress/progress-evidence.ts';
import { namedSince } from '../history/usage/spend.ts';
import { withWaits } from '../judgement/judge.ts';
import type { Policies } from '../judgement/policies.ts';
import type { Rules } from '../judgement/rules.ts';
import { withDeath, withFiledTicket, withReset } from './requested-control.ts';
import { withHold } from './requested-hold.ts';
import { type AgentState, type Answer, firstInstance, type KnownAgent, type Stragglers } from './state.ts';

export type Observation = EventOf<typeof Topic.agentObservation>;
type ExitedEvent = Extract<Observation, { type: 'AGENT_EXITED' }>;
type HeartbeatEvent = Extract<Observation, { type: 'AGENT_HEARTBEAT' }>;

const RETIRED = 8;
const STRAGGLING_MS = 60_000;
const OLDEST_START_MS = 24 * 3_600_000;

/** Refuses a record of a replaced instance. The state that counts such records is still stored. */
export class OlderInstance extends Unwelcome {
  declare readonly state: AgentState;
  constructor(instanceId: string, current: string | null, state: AgentState) {
    super(
      'older_instance',
      `instance ${instanceId} has been replaced by ${current}: stop it, or give it an id of its own`,
      state,
    );
  }
}

/**
 * Refuses a heartbeat that was sent directly to Kafka, of an agent that reports through the gateway. Otherwise who may
 * write to the topic could report for every agent.
 */
const refuseUnverified = ({ agentId, history: { identity, end } }: KnownAgent, { verified }: Heartbeat): void => {
  if (verified !== null || identity.verified === null || end !== null) return;
  throw new Unwelcome(
    'unverified',
    `the gateway reports ${agentId} with the token of ${principalText(identity.verified)}; this heartbeat was sent directly to Kafka: send it to the gateway`,
  );
};

/** Folds an input into the state, by kind. Never judges. */
export const observe = (policies: Policies, state: AgentState, input: Observation, clock: Clock): AgentState => {
  switch (input.type) {
    case 'AGENT_HEARTBEAT':
      return heartbeat(policies, state, input, clock);
    case 'AGENT_EXITED':
      return ended(policies, state, input, clock);
    case 'CONFIRM_DEATH':
      return withDeath(state, input, clock);
    case 'HOLD_AGENT':
    case 'RELEASE_AGENT':
      return withHold(state, input, clock);
    case 'RESET_BREAKER':
      return withReset(state, input);
    case 'FILE_TICKET':
      return withFiledTicket(state, input);
    case 'TERMINAL_USED':
      // It is for the history only: what a person types shows in the agent's own heartbeats.
      return state;
  }
};

const heartbeat = (policies: Policies, state: AgentState, input: HeartbeatEvent, clock: Clock): AgentState => {
  const payload = input.payload;
  if (state.kind === 'known') {
    refuseUnverified(state, payload);
    const { identity, end } = state.history;
    const another = payload.instance_id !== null && payload.instance_id !== identity.instanceId;
    if (another && (state.retired.includes(payload.instance_id) || isFromBefore(state, payload)))
      throw new OlderInstance(
        payload.instance_id,
        identity.instanceId,
        straggling(state, payload.instance_id, clock.now),
      );
    const isLast = payload.exit !== null;
    if (!another && (end === null || payload.instance_id !== null || isLast))
      return continued(policies, state, input, clock);
  }
  const receipt = receiptOf(null, payload, clock);
  if (receipt.now - payload.timestamp > OLDEST_START_MS)
    throw new Unwelcome(
      'too_old',
      `a heartbeat stamped ${payload.timestamp}, over 24 h old, starts no agent: correct the sender's clock`,
    );
  const first = observed(policies, begun(policies, state, input, identityOf(payload), receipt), input, receipt, clock);
  return endedBySelf(first, payload, clock);
};

const isPresent = ({ history: { end }, announced, instanceNumber }: KnownAgent): boolean =>
  end === null && announced.presentInstance === instanceNumber;

/** A heartbeat of an unknown instance that was sent before the present one began, and arrives late. */
const isFromBefore = (state: KnownAgent, { timestamp }: Heartbeat): boolean =>
  isPresent(state) && timestamp + state.history.lastReceipt.driftMs < state.history.started.now;

/**
 * The end of an instance that never sent a heartbeat does not end the current one. Its runtime may report that end long
 * afterwards, when the agent has been started again. If none is present, the clock of its host decides which of the two
 * is newer.
 */
const endsNothing = (state: KnownAgent, at: number | null): boolean =>
  isPresent(state) ||
  (at ?? Number.POSITIVE_INFINITY) <= state.history.lastReceipt.now - state.history.lastReceipt.driftMs;

const retiring = (retired: readonly string[], instanceId: string): readonly string[] => [
  ...retired.slice(1 - RETIRED),
  instanceId,
];

const isSupervised = ({ identity }: History): boolean => identity.runtimeId !== null;

/**
 * Only an agent without a runtime can report its own end, and only that it has finished or was stopped. A crash that it
 * reports is a hint, since a replacement starts only after a confirmed death. A heartbeat of another instance cannot
 * end an agent that a runtime still runs, either.
 */
const endedBySelf = (
  state: KnownAgent,
  { exit, runtime_id: runtimeId, reporter }: Heartbeat,
  clock: Clock,
): KnownAgent => {
  if (exit === null || runtimeId !== null || reporter !== 'agent') return state;
  if (isSupervised(state.history) || state.displacing) return state;
  const { reason } = exit;
  if (reason !== 'finished' && reason !== 'explicit') return state;
  const end: End = { reason, at: clock.now, orderId: null, bySelf: true };
  return { ...state, history: { ...state.history, end } };
};

/** Another heartbeat of the current instance. After its end, or out of order, it only counts as received. */
const continued = (policies: Policies, state: KnownAgent, input: HeartbeatEvent, clock: Clock): KnownAgent => {
  const payload = input.payload;
  const h = state.history;
  const axis = axisThrough(payload.ingress, h.axis, clock);
  const moved = axis === h.axis ? h : { ...h, axis };
  const receipt = receiptOf(moved, payload, clock);
  const waited = withWaits(policies.rules(state.policy), moved, receipt);
  const here = waited === h ? state : { ...state, history: waited };
  const old =
    payload.sequence !== null && h.lastReceipt.sequence !== null && payload.sequence <= h.lastReceipt.sequence;
  if (old || (h.end !== null && !isOutlived(h, h.end, payload)))
    return { ...here, history: received(here.history, payload, receipt, input.correlationId) };
  const alive = h.end === null ? here : { ...here, history: { ...here.history, end: null } };
  return endedBySelf(observed(policies, alive, input, receipt, clock), payload, clock);
};

/**
 * Whether a heartbeat revokes an end that no runtime has reported: the agent was assumed dead, or has reported its own
 * end and continues. A late heartbeat that was sent before the end does not, nor one that passed no gateway if the
 * agent's own do.
 */
const isOutlived = ({ identity, lastReceipt }: History, end: End, payload: Heartbeat): boolean => {
  if (identity.verified !== null && payload.verified === null) return false;
  if (end.bySelf && payload.exit !== null) return false;
  return (end.reason === 'lost' || end.bySelf) && payload.timestamp + lastReceipt.driftMs > end.at;
};

const observed = (
  policies: Policies,
  state: KnownAgent,
  input: HeartbeatEvent,
  receipt: Receipt,
  clock: Clock,
): KnownAgent => {
  const payload = input.payload;
  const history = historyAfter(state.history, payload, receipt, input.correlationId);
  const axis = axisThrough(payload.ingress, history.axis, clock);
  const through = axis === history.axis ? history : { ...history, axis };
  const session = namedSince(state.history.spend, through.spend);
  const unnamed = { ...state, history: through, requestedPolicy: payload.policy };
  const known = policies.current(session === null ? unnamed : countNamed(unnamed, session));
  const rules = policies.rules(known.policy);
  return answering(readWith(rules, state.history, withClock(rules, known), payload, receipt), state.history, payload);
};

/** Since when the clock of the agent is off, by the policy's tolerance. */
const withClock = ({ policy }: Rules, state: KnownAgent): KnownAgent => {
  const { driftMs, watched } = state.history.lastReceipt;
  const isOff = Math.abs(driftMs) > policy.clockToleranceMs;
  if (isOff) return state.clockOffSince === undefined ? { ...state, clockOffSince: watched } : state;
  return withoutClock(state);
};

const withoutClock = (state: KnownAgent): KnownAgent => {
  if (state.clockOffSince === undefined) return state;
  const { clockOffSince: _, ...others } = state;
  return others;
};

/** Starts a new instance. The id of the previous one is kept. */
const begun = (
  policies: Policies,
  state: AgentState,
  input: Observation,
  identity: Identity,
  receipt: Receipt,
): KnownAgent => {
  const fresh = initialHistory(identity, receipt, input.correlationId);
  if (state.kind === 'unseen') return policies.current(firstInstance(input.key, fresh));
  const previous = state.history.identity.instanceId;
  const retired = previous === null ? state.retired : retiring(state.retired, previous);
  const history = { ...fresh, hold: state.history.hold };
  return {
    ...withoutClock(state),
    history,
    instanceNumber: state.instanceNumber + 1,
    previousInstanceId: previous,
    displacing: state.history.end === null && (isSupervised(state.history) || state.displacing),
    retired,
    stragglers: null,
    answers: [],
    resets: [],
  };
};

/** Starts and ends an instance that never sent a heartbeat. */
const ended = (policies: Policies, state: AgentState, input: ExitedEvent, clock: Clock): AgentState => {
  const { instanceId, taskId, runtimeId, labels, policy, reason, orderId, at, code, signal, lastOutput, checkpoint } =
    input.payload;
  const exit = { code, signal, lastOutput: lastLinesOf(lastOutput) };
  const driftMs = state.kind === 'known' ? state.history.lastReceipt.driftMs : 0;
  const saved = checkpoint === null ? {} : { checkpoint: checkpointAtEnd(checkpoint, driftMs, clock.now) };
  const end: End = { reason, at: clock.now, orderId, bySelf: false, exit, ...saved };
  if (state.kind === 'known') {
    const { identity: current, end: known } = state.history;
    if (state.retired.includes(instanceId)) return state;
    if (current.instanceId === null || current.instanceId === instanceId)
      return known ? finishedAfterAll(state, known, end) : { ...state, history: { ...state.history, end } };
    if (endsNothing(state, at)) return { ...state, retired: retiring(state.retired, instanceId) };
  }
  const unknown = {
    attempt: null,
    maxAttempts: null,
    eventDriven: false,
    client: null,
    parentId: null,
    verified: null,
  };
  const identity = { instanceId, taskId, runtimeId, labels, ...unknown };
  const receipt: Receipt = { ...momentOn(OWN_AXIS, clock), stamp: clock.now, previous: null };
  const instance = begun(policies, state, input, identity, receipt);
  const lastReceipt = { ...instance.history.lastReceipt, driftMs: at === null ? 0 : clock.now - at };
  return policies.current({
    ...instance,
    history: { ...instance.history, lastReceipt, end },
    requestedPolicy: policy ?? instance.requestedPolicy,
  });
};

/**
 * The agent was assumed dead, and had in fact finished its task. Its loss and the left task are announced again, with
 * that reason.
 */
const finishedAfterAll = (state: KnownAgent, known: End, end: End): KnownAgent => {
  const { task } = state.announced;
  if (known.reason !== 'lost' || end.reason !== 'finished' || task === null) return state;
  const announced = {
    ...state.announced,
    lostInstance: state.instanceNumber,
    task: { ...task, state: 'UNKNOWN' as const },
  };
  return { ...state, history: { ...state.history, end }, announced };
};

const receiptOf = (history: History | null, payload: Heartbeat, clock: Clock): Receipt => {
  const moment = momentOn(history?.axis ?? OWN_AXIS, clock);
  return { now: moment.now, watched: moment.watched, stamp: payload.timestamp, previous: history?.lastReceipt ?? null };
};

const straggling = (state: KnownAgent, instanceId: string, now: number): KnownAgent => {
  const before = state.stragglers;
  const same = before !== null && before.instanceId === instanceId && now - before.from < STRAGGLING_MS;
  const stragglers: Stragglers = same
    ? { ...before, count: before.count + 1 }
    : { instanceId, count: 1, from: now, announced: false };
  return { ...state, stragglers };
};

/** Reads the contents of a heartbeat that need the limits and patterns of a policy. `before`: the history without it. */
const readWith = (
  { policy, lookedFor }: Rules,
  before: History,
  state: KnownAgent,
  heartbeat: Heartbeat,
  receipt: Receipt,
): KnownAgent => {
  const { history } = state;
  const breakers = breakersAfter(history.breakers, heartbeat, receipt, policy.breakers);
  const { matches, rateLimit } = searched(history, lookedFor, heartbeat, receipt);
  const declared = policy.ticket !== null && declaresProgress(before.progress, before.checkpoint, heartbeat, receipt);
  const progressEvidence =
    policy.ticket === null ? null : progressEvidenceAfter(history.progressEvidence, declared, heartbeat, receipt);
  const same = breakers === history.breakers && matches === history.matches && rateLimit === history.rateLimit;
  if (same && progressEvidence === history.progressEvidence) return state;
  return { ...state, history: { ...history, breakers, matches, rateLimit, progressEvidence } };
};

export const searched = (
  history: History,
  lookedFor: LookedFor,
  heartbeat: Heartbeat,
  receipt: Receipt,
): { readonly matches: History['matches']; readonly rateLimit: RateLimit } => {
  const texts = textsOf(history.matches, heartbeat);
  const limited = texts.some(({ text }) => lookedFor.rateLimits.some((pattern) => pattern.isIn(text)));
  return {
    matches: matchesAfter(history.matches, texts, lookedFor, heartbeat, receipt),
    rateLimit: limited
      ? limitedBy(history.rateLimit, true, history.progress.at, heartbeat, receipt)
      : history.rateLimit,
  };
};

const ANSWER_CHARACTERS = 500;

/** Records answers once each: a handoff, blockers, a probe's reply, or a state that the agent reports itself. */
const answering = (state: KnownAgent, before: History, heartbeat: Heartbeat): KnownAgent => {
  const words =
    heartbeat.handoff === null && heartbeat.blockers.length === 0 && heartbeat.probe_reply === null
      ? ''
      : wordsOf(heartbeat);
  const answered = words === '' ? state.answered : hash32(words);
  // A failed turn that the client reports is not an answer of the agent.
  const self = heartbeat.activity === 'stuck' || (heartbeat.activity === 'blocked' && heartbeat.turn === null);
  if (answered === state.answered && !self) return state;
  const answers: Answer[] = answered === state.answered ? [] : answersOf(heartbeat);
  if (self && before.activity.value !== heartbeat.activity)
    answers.push({ how: 'self_report', nonce: null, text: `it reports that it is ${heartbeat.activity}` });
  return answers.length === 0 ? state : { ...state, answered, answers: [...state.answers, ...answers] };
};

const wordsOf = (heartbeat: Heartbeat): string =>
  [heartbeat.handoff ?? '', ...heartbeat.blockers, heartbeat.probe_reply ?? ''].join('\n').trim();

const answersOf = (heartbeat: Heartbeat): Answer[] => {
  const text = (t: string) => t.slice(0, ANSWER_CHARACTERS);
  const answers: Answer[] = [];
  if (heartbeat.handoff) answers.push({ how: 'handoff', nonce: null, text: text(heartbeat.handoff) });
  if (heartbeat.blockers.length > 0)
    answers.push({ how: 'blockers', nonce: null, text: text(heartbeat.blockers.join('; ')) });
  if (heartbeat.probe_reply) answers.push({ how: 'probe_reply', nonce: heartbeat.probe_reply, text: null });
  return answers;
};
