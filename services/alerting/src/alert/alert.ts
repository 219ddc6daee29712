import { type Clock, type Decider, NEVER } from '@vigil/stream';
import { dismissedOf, operatorContent, reviewOf, reviewRequested } from '../adapters/operator-review.ts';
import { BLOCKED_ROUTE } from '../notices/agent-notices.ts';
import {
  type Alert,
  type Input,
  initial,
  isBefore,
  NO_TIMES,
  type OfAgent,
  type Output,
  type Settings,
  timesAfter,
} from './alert-state.ts';
import { type Content, inPlace, questionOf, settledBy } from './content.ts';
import { changed, draft, type Over, raised, resolved, updated, waitOf } from './drafts.ts';
import { isSilenced, type Open, sendFrom } from './due.ts';

const MOST_AGENTS = 16;

const observe = (before: Alert, input: Input, { now }: Clock, settings: Settings): Alert => {
  const { agents = [] } = before;
  const isLate = isLateEnd(input, now);
  const after = agentsAfter(before, input, isLate);
  const known = after === agents ? before : { ...before, agents: after };
  const state = isEndOfTask(input) ? { ...known, taskOver: Math.max(taskOverOf(known), input.occurredAt) } : known;
  const isNew = answerTo(state, input, now, settings).length > 0;
  // The end of an unknown key is kept only while an earlier raise may still be unread.
  if (!isNew && state.alertKey === '' && !isLate) return before;
  const times = timesAfter(state.times, input);
  if (!isNew && state.alertKey === '') return { ...state, times, keptUntil: now + END_KEPT_MS };
  if (!isNew) return times === state.times ? state : { ...state, times };
  const { key: alertKey, correlationId, policy } = input;
  const chain = state.open ? {} : { correlationId, policy };
  const { keptUntil: _, ...rest } = state;
  return { ...rest, alertKey, ...chain, times };
};

/** How long a raise may be read after a later end, while alerting catches up. Milliseconds. */
const LATE_MS = 10_000;
const END_KEPT_MS = 3_600_000;

const isLateEnd = (input: Input, now: number): boolean =>
  input.type === 'NOTIFY' && input.payload.action === 'resolve' && now - input.occurredAt > LATE_MS;

/** The changes that an input makes to the alert of its key. */
const changes = (state: Alert, input: Input, now: number, settings: Settings): readonly Output[] => {
  const { open, alertKey } = state;
  switch (input.type) {
    case 'NOTIFY': {
      const { alertKey: _, action, timeAgeMs: __, ticket: ___, ...content } = input.payload;
      const settled = action === 'settle' && open ? settledBy(open.content, content) : null;
      if (open && settled) return [changed(state, { ...open, content: settled }, now, settings)];
      const past = isPast(state, input);
      if (open && past) return [];
      if (action === 'resolve') return isOpenForOthers(state) ? [] : ended(state, content, now, settings);
      return action === 'raise' ? raising(state, content, { id: input.eventId, at: now, isOver: past }, settings) : [];
    }
    case 'ACKNOWLEDGE_ALERT': {
      if (!open || open.acknowledgedBy !== null) return [];
      const payload = { alertKey, alertId: open.alertId, by: input.payload.by };
      return [draft(state, { type: 'ALERT_ACKNOWLEDGED', payload })];
    }
    case 'SILENCE_ALERTS': {
      const { matchers, until, by, why } = input.payload;
      return [draft(state, { type: 'SILENCE_CHANGED', payload: { matchers, until, by, why } })];
    }
    case 'NOTIFY_OPERATOR': {
      const content = operatorContent(open?.content ?? null, input.payload);
      return raising(state, content, { id: input.eventId, at: now, isOver: false }, settings);
    }
  }
};

/** An agent that has raised the alert of a task and is not healthy yet keeps it open for all. */
const isOpenForOthers = ({ agents = [] }: Alert): boolean => agents.some(({ isOpen }) => isOpen);

/**
 * Several agents of a task may raise these. An agent ends what it raised itself. A task that an agent works on is not blocked: one that is
 * HEALTHY, or starts on the task, ends `task_blocked` for all of its agents.
 */
const SHARED: ReadonlySet<string> = new Set(['stuck_agent', BLOCKED_ROUTE]);

const agentIn = (input: Input): string | null =>
  input.type === 'NOTIFY' && SHARED.has(input.payload.route) ? input.payload.agentId : null;

const isEndOfTask = (input: Input): boolean =>
  input.type === 'NOTIFY' &&
  input.payload.action === 'resolve' &&
  SHARED.has(input.payload.route) &&
  input.payload.agentId === null;

const taskOverOf = ({ taskOver }: Alert): number => taskOver ?? 0;

/** An agent without a report: its raise from before the end of the task is over. */
const unknownAgent = (state: Alert, agentId: string): OfAgent => ({
  agentId,
  times: { ...NO_TIMES, over: taskOverOf(state) },
  isOpen: false,
});

/**
 * The input happened before a contrary report of the same agent. For a task as a whole, a newer report of one of its
 * agents keeps it open.
 */
const isPast = (state: Alert, input: Input): boolean => {
  const { agents = [], times } = state;
  const agentId = agentIn(input);
  const known = agents.find((one) => one.agentId === agentId);
  if (agentId !== null) return isBefore((known ?? unknownAgent(state, agentId)).times, input);
  return agents.length === 0 && isBefore(times, input);
};

const agentsAfter = (state: Alert, input: Input, isLate: boolean): readonly OfAgent[] => {
  const { agents = [] } = state;
  if (input.type !== 'NOTIFY' || !SHARED.has(input.payload.route)) return agents;
  const { action, agentId } = input.payload;
  if (action !== 'raise' && action !== 'resolve') return agents;
  const dated = (one: OfAgent): OfAgent => ({
    ...one,
    times: timesAfter(one.times, input),
    isOpen: isBefore(one.times, input) ? one.isOpen : action === 'raise',
  });
  if (agentId === null) return action === 'resolve' ? agents.map(dated) : agents;
  const known = agents.find((one) => one.agentId === agentId);
  // An unknown agent has nothing to end, unless an earlier raise may still be unread.
  if (known === undefined && action === 'resolve' && agents.length === 0 && !isLate) return agents;
  const others = agents.filter((one) => one !== known);
  return [...kept(others), dated(known ?? unknownAgent(state, agentId))];
};

/** Drops the ended ones first. */
const kept = (agents: readonly OfAgent[]): readonly OfAgent[] => {
  if (agents.length < MOST_AGENTS) return agents;
  const over = agents.findIndex(({ isOpen }) => !isOpen);
  return agents.toSpliced(Math.max(0, over), 1);
};

/** `isOver`: it was over before it was reported. Such an alert is raised, and resolved. */
type Raise = { readonly id: string; readonly at: number; readonly isOver: boolean };

const raising = (state: Alert, reported: Content, { id, at, isOver }: Raise, settings: Settings): readonly Output[] => {
  const { open } = state;
  if (open) {
    const content = inPlace(open.content, reported);
    const isNew = JSON.stringify(content) !== JSON.stringify(open.content);
    return isNew ? [changed(state, { ...open, content }, at, settings)] : [];
  }
  const event = raised(state, reported, id, at, settings);
  if (!isOver) return [event];
  const over = { title: reported.title, text: 'it was over before it was reported' };
  return [event, ...ended(evolve(state, event, settings), over, at, settings)];
};

/** The answer to the input; then, the notification that is due. */
const decide = (state: Alert, now: number, input: Input | null, settings: Settings): readonly Output[] => {
  const answer = input === null ? [] : answerTo(state, input, now, settings);
  const after = answer.reduce((before, event) => evolve(before, event, settings), state);
  const { open } = after;
  return open && now >= sendFrom(after, open, settings.routing)
    ? [...answer, updated(after, open, now, settings)]
    : answer;
};

const answerTo = (state: Alert, input: Input, now: number, settings: Settings): readonly Output[] => {
  const [review, dismissed] = [reviewOf(input), dismissedOf(input)];
  return [
    ...(review === null ? [] : [draft(state, reviewRequested(state.alertKey, review))]),
    ...(dismissed === null ? [] : [draft(state, { type: 'TICKET_DISMISSED' as const, payload: dismissed })]),
    ...changes(state, input, now, settings),
  ];
};

/** A notification that a case requested is sent even if the alert is over within the group wait. */
const ended = (state: Alert, over: Over, now: number, settings: Settings): readonly Output[] => {
  const { open } = state;
  if (open === null) return [];
  const isOwed = open.sentSeverity === null && open.content.caseId !== null && !isSilenced(state, open.content, now);
  if (!isOwed) return [resolved(state, open, over, now)];
  const sent = updated(state, open, now, settings);
  return [sent, ...ended(evolve(state, sent, settings), over, now, settings)];
};

const evolve = (state: Alert, event: Output, settings: Settings): Alert => {
  switch (event.type) {
    case 'ALERT_RAISED':
    case 'ALERT_UPDATED':
      return { ...state, open: opened(state.open, event.payload, settings) };
    case 'ALERT_ACKNOWLEDGED':
      return { ...state, open: state.open && { ...state.open, acknowledgedBy: event.payload.by } };
    case 'ALERT_RESOLVED':
      return { ...state, open: null };
    case 'SILENCE_CHANGED':
      return { ...state, silence: { matchers: event.payload.matchers, until: event.payload.until } };
    case 'QUEEN_INTERVENTION_REQUESTED':
    case 'TICKET_DISMISSED':
    case 'ALERT_DELIVERED':
      return state;
  }
};

type RaisedPayload = Extract<Output, { readonly type: 'ALERT_RAISED' | 'ALERT_UPDATED' }>['payload'];

const opened = (before: Open | null, payload: RaisedPayload, settings: Settings): Open => {
  const { alertKey: _, alertId, deliverAt, sinks, raisedAt: recordedAt, ...content } = payload;
  const raisedAt = recordedAt ?? 0;
  const unsent = { sentSeverity: null, sentTo: [], sentQuestion: null, sendAt: raisedAt + waitOf(content, settings) };
  const known = before ?? { ...unsent, acknowledgedBy: null };
  if (deliverAt === null) return { ...known, alertId, raisedAt, content };
  const sentTo = [...new Set([...known.sentTo, ...sinks])];
  const sent = {
    sentSeverity: content.severity,
    sentTo,
    sentQuestion: questionOf(content),
    sendAt: deliverAt + settings.repeatMs,
  };
  return { ...known, alertId, raisedAt, content, ...sent };
};

/** One alert for each episode: raised once, updated in place, resolved under the same key. A later raise is a new alert. */
export const alerts = (settings: Settings): Decider<Alert, Input, Output> => ({
  initial,
  observe: (state, input, clock) => observe(state, input, clock, settings),
  decide: (state, { now }, input) => decide(state, now, input, settings),
  evolve: (state, event) => evolve(state, event, settings),
  dueAt: (state) => (state.open ? sendFrom(state, state.open, settings.routing) : (state.keptUntil ?? NEVER)),
  forgets: ({ keptUntil }, { now }) => keptUntil !== undefined && now >= keptUntil,
});
