import type { LostWhy, Place, PresentWhy } from '@vigil/events';
import { judgedInterval, lostAfter } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import type { AgentState, KnownAgent } from '../evaluator/state.ts';
import type { End, History } from '../history/history.ts';
import { lostForGoodFrom } from '../history/history.ts';
import type { Moment } from '../history/moment.ts';
import { isOnHold } from '../history/presence/hold.ts';
import { isIdle } from '../judgement/exemptions.ts';
import type { Rules } from '../judgement/rules.ts';
import { momentOf } from '../signals/signal.ts';
import { type Announcement, type AnnouncementContext, presenceEvent } from './events.ts';

/**
 * When the agent is no longer present: after three intervals, and at least the policy's `lost_after`, without a
 * heartbeat.
 */
export const lostFrom = ({ lastReceipt, identity }: History, { policy: { heartbeat } }: Rules, at: Moment): number => {
  if (identity.eventDriven) return NEVER;
  const after = lostAfter(judgedInterval(lastReceipt.intervalMs, heartbeat.intervalMs), heartbeat.lostAfterMs);
  return momentOf(lastReceipt.watched + after + 1, at);
};

/**
 * Announces presence (the first or a new one) and loss (by silence or an end). An agent that is forgotten after a long
 * silence is not part of a mass failure, because its ingress may be gone for good. The end of an agent that is already
 * lost is reported, so that the brake no longer waits for it.
 */
export const presenceChanged = (context: AnnouncementContext): Announcement[] => {
  const { state, rules, judgement } = context;
  const { history, announced } = state;
  const here = history.end === null && lostFrom(history, rules, judgement.at) > judgement.at.now;
  const isAnnounced = announced.presentInstance === state.instanceNumber && judgement.at.now < announced.presentUntil;
  if (here && !isAnnounced) return [present(context)];
  if (!here && announced.presentInstance !== 0) return [lost(context)];
  return announced.lostInstance === state.instanceNumber && isSettled(context) ? [lost(context)] : [];
};

/**
 * Repeated once a day while the agent is alive, so that a reader of the topic from its beginning finds each living
 * agent.
 */
const REPEAT_MS = 24 * 3_600_000;

const whyPresent = ({ state, fresh }: AnnouncementContext): Exclude<PresentWhy, 'UNKNOWN'> => {
  if (state.announced.presentInstance === state.instanceNumber) return 'still_present';
  if (!fresh) return 'returned';
  return state.instanceNumber === 1 ? 'first_heartbeat' : 'new_instance';
};

const present = (context: AnnouncementContext): Announcement => {
  const { state, rules, judgement } = context;
  const why = whyPresent(context);
  const { now } = judgement.at;
  const presentSince = why === 'still_present' ? state.announced.presentSince : now;
  const intervalMs = state.history.lastReceipt.intervalMs ?? rules.policy.heartbeat.intervalMs;
  const payload = { ...places(state), why, intervalMs, presentSince, repeatAt: now + REPEAT_MS };
  return presenceEvent(context, 'AGENT_PRESENT', payload);
};

const lost = (context: AnnouncementContext): Announcement => {
  const { state } = context;
  const { history, announced, instanceNumber } = state;
  const { end } = history;
  const isForgotten = context.judgement.at.now >= lostForGoodFrom(history);
  return presenceEvent(context, 'AGENT_LOST', {
    ...places(state),
    why: isForgotten ? 'silent' : whyLost(end),
    expected: isForgotten || (end !== null && (isExpected(end) || announced.lostInstance === instanceNumber)),
    exemption: exemptionWhenLost(history),
    observedMs: observedMs(history),
  });
};

/**
 * Why the agent was not expected to work at its last heartbeat; null if it was. The governor's brake does not count
 * such a loss. Nor that of a sub-agent, which is part of the process of another and has no host or runtime of its own.
 */
const exemptionWhenLost = (history: History): 'held' | 'paused' | 'idle' | 'sub_agent' | null => {
  if (history.identity.parentId !== null) return 'sub_agent';
  if (isOnHold(history.hold, lastSeen(history))) return 'held';
  if (history.activity.value === 'paused') return 'paused';
  return isIdle(history) ? 'idle' : null;
};

/**
 * The time of the last heartbeat, or of the reported end. A loss that a person confirms does not state when the agent
 * ended.
 */
const lastSeen = ({ lastReceipt, end }: History): number =>
  end === null || end.reason === 'lost' ? lastReceipt.now : end.at;

/** From the first heartbeat of this instance. */
const observedMs = (history: History): number => Math.max(0, lastSeen(history) - history.started.now);

/** A runtime that is stopped ends its agents on purpose. That is not a mass failure, and does not engage the brake. */
const expectedReasons: ReadonlySet<string> = new Set(['finished', 'explicit']);

const isExpected = ({ orderId, reason }: End): boolean => orderId !== null || expectedReasons.has(reason);

/** Whether the agent's end is known, or the agent is forgotten. */
const isSettled = ({ state: { history }, judgement }: AnnouncementContext): boolean =>
  history.end !== null || judgement.at.now >= lostForGoodFrom(history);

const whyLost = (end: History['end']): LostWhy => {
  if (end === null) return 'silent';
  const crashed = end.orderId === null && ['crashed', 'resource_limit', 'lost'].includes(end.reason);
  return crashed ? 'crashed' : 'ended';
};

const placeOf = ({ labels, runtimeId }: History['identity']): Place => ({ host: labels.host ?? null, runtimeId });

const places = ({ history: { identity }, announced }: KnownAgent) => ({
  ...placeOf(identity),
  model: identity.labels.model ?? null,
  previousPlace: announced.presentInstance === 0 ? null : (announced.presentPlace ?? placeOf(identity)),
});

/** Keeps the place where the agent is announced as present, if the agent now reports another one. */
export const withPresentPlace = (before: AgentState, after: AgentState): AgentState => {
  if (before.kind === 'unseen' || after.kind === 'unseen') return after;
  const { announced } = after;
  if (announced.presentInstance === 0 || announced.presentPlace !== undefined) return after;
  const place = placeOf(before.history.identity);
  const now = placeOf(after.history.identity);
  if (place.host === now.host && place.runtimeId === now.runtimeId) return after;
  return { ...after, announced: { ...announced, presentPlace: place } };
};
