import { type Clock, type Decider, NEVER } from '@vigil/stream';
import { dismissedOf, operatorContent, reviewOf, reviewRequested } from '../adapters/operator-review.ts';
import { WARRANT_ROUTE } from '../notices/agents/warrant-notices.ts';
import { agentsAfter, closed, isEndOfTask, isLateEnd, isOpenForOthers, isPast, taskOverOf } from './agents.ts';
import { type Alert, initial, isBefore, timesAfter } from './alert-state.ts';
import { assessed, withoutTicket, withTicket } from './assessment.ts';
import { type Content, contentOf, inPlace, isWorse, pardonedBy, questionOf, settledBy } from './content.ts';
import {
  changed,
  counted,
  draft,
  endWaitOf,
  type Rules,
  raised,
  repeatOf,
  resolved,
  settled,
  unsent,
  updated,
  waitOf,
} from './drafts.ts';
import { type Open, type Over, sendFrom } from './due.ts';
import { GROUP_ROUTE, heldUntil } from './gates.ts';
import type { Input, Output } from './messages.ts';
import { newestRequest, wholeText, withAsked, withRequests } from './requests.ts';
import { TEST_ROUTE, unknownOf } from './routing.ts';

const observe = (before: Alert, input: Input, clock: Clock, settings: Rules): Alert =>
  observeReport(withWorkingCase(before, input, clock.now), input, clock, settings);

/** The case of a warrant is at work from its first step until it is closed. */
const withWorkingCase = (state: Alert, input: Input, now: number): Alert => {
  if (input.type !== 'NOTIFY' || input.payload.route !== WARRANT_ROUTE || state.alertKey === '') return state;
  const { action, caseId } = input.payload;
  if (action === 'resolve' && caseId !== null) return { ...state, workingCase: caseId };
  if (action !== 'settle' || caseId !== state.workingCase) return state;
  const { workingCase: _, ...rest } = state;
  return { ...rest, keptUntil: now + END_KEPT_MS };
};

const observeReport = (known: Alert, input: Input, { now }: Clock, settings: Rules): Alert => {
  const awaiting = awaitingAfter(known, input, now);
  if (awaiting !== null) return awaiting;
  const asked = withAsked(endingAfter(known, input, now, settings), input);
  const before = withTicket(withRequests(pardonAfter(asked, input), input), input);
  const { agents = [] } = before;
  const isLate = isLateEnd(input, now);
  const after = agentsAfter(before, input, isLate);
  const noted = after === agents ? before : { ...before, agents: after };
  const state = isEndOfTask(input) ? { ...noted, taskOver: Math.max(taskOverOf(noted), input.occurredAt) } : noted;
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

/**
 * A raise that waits for its end, or that end. Null: the input is another one. What is over leaves nothing behind once a
 * late raise can no longer be read.
 */
const awaitingAfter = (state: Alert, input: Input, now: number): Alert | null => {
  if (input.type !== 'NOTIFY' || state.open !== null) return null;
  const { action, afterMs } = input.payload;
  const times = timesAfter(state.times, input);
  if ((action === 'resolve' || action === 'settle') && state.awaited !== undefined) {
    const { awaited, ...rest } = state;
    const isOld = isBefore(state.times, input) || (action === 'settle' && input.occurredAt < state.times.raised);
    return isOld ? state : { ...rest, times, keptUntil: now + END_KEPT_MS };
  }
  if (action !== 'raise' || afterMs === null) return null;
  if (state.awaited !== undefined || state.workingCase !== undefined || isBefore(state.times, input)) return state;
  const awaited = { id: input.eventId, at: input.occurredAt + afterMs, content: contentOf(input.payload) };
  const { key: alertKey, correlationId, policy } = input;
  const { keptUntil, ...rest } = state;
  return { ...rest, alertKey, correlationId, policy, times, awaited };
};

/** An end that sinks learn after the wait, in which it may rise again: a flapping agent is one incident. */
const endingAfter = (state: Alert, input: Input, now: number, settings: Rules): Alert => {
  const { open } = state;
  if (input.type !== 'NOTIFY' || open === null || open.sent === null) return state;
  const { action, text } = input.payload;
  const title = overTitle(open, input.payload);
  const wait = endWaitOf(open.content, settings);
  if (action === 'raise' && open.ending !== null && !isPast(state, input))
    return { ...state, open: { ...open, ending: null } };
  if (action !== 'resolve' || wait === 0 || isPast(state, input)) return state;
  const isOver = agentsAfter(state, input, isLateEnd(input, now)).every((one) => !one.isOpen);
  return isOver ? { ...state, open: { ...open, ending: open.ending ?? { at: now + wait, title, text } } } : state;
};

/**
 * With the pardon that answers the question of its case. It holds until the alert is raised again, such as by a worse
 * state of the agent or by another question.
 */
const pardonAfter = (state: Alert, input: Input): Alert => {
  const { open } = state;
  if (input.type !== 'NOTIFY' || open === null) return state;
  const { action, isPardon, caseId } = input.payload;
  if (action === 'raise' && open.isPardoned && !isPast(state, input)) {
    const { isPardoned: _, ...rest } = open;
    return { ...state, open: rest };
  }
  return action === 'settle' && isPardon && caseId === open.content.caseId
    ? { ...state, open: { ...open, isPardoned: true } }
    : state;
};

/** People read what is over, not only whose it was. The end of a group has the number of all that were in it. */
const overTitle = ({ content }: Open, end: Pick<Content, 'title'>): string =>
  content.route === GROUP_ROUTE ? end.title : `${content.title}: over`;

/** How long a key without an alert is kept, milliseconds: its end, and its dismissed ticket. */
const END_KEPT_MS = 3_600_000;
/** The same, where its agent may wait on: its policy may report the wait hours later. */
const ASKED_KEPT_MS = 24 * 3_600_000;

/** The changes that an input makes to the alert of its key. */
const changes = (state: Alert, input: Input, now: number, settings: Rules): readonly Output[] => {
  const { open, alertKey } = state;
  switch (input.type) {
    case 'NOTIFY': {
      const { action, requestId } = input.payload;
      const reported = contentOf({ ...input.payload, text: wholeText(state, input.payload) });
      if (action === 'settle') return settling(state, reported, input.payload.isPardon, now, settings);
      const content = action === 'raise' && requestId !== null ? (newestRequest(state) ?? reported) : reported;
      const past = isPast(state, input);
      if (open && past) return [];
      if (action === 'resolve')
        return isOpenForOthers(state) || open === null || open.ending
          ? []
          : ended(state, { title: overTitle(open, content), text: content.text }, now, settings);
      return action === 'raise' && (input.payload.afterMs === null || open !== null)
        ? raising(state, content, { id: input.eventId, at: now, isOver: past }, settings)
        : [];
    }
    case 'ASSESS_TICKET':
      return assessed(state, input, now, settings);
    case 'ACKNOWLEDGE_ALERT': {
      if (!open) return [];
      const { alertId, sent, acknowledgedBy } = open;
      // A repeated one is answered, and sinks are not notified again.
      const isNews = sent !== null && acknowledgedBy === null;
      const delivery = { deliverAt: isNews ? now : null, sinks: isNews ? sent.to : [] };
      return [
        draft(state, { type: 'ALERT_ACKNOWLEDGED', payload: { alertKey, alertId, by: input.payload.by, ...delivery } }),
      ];
    }
    case 'RESOLVE_ALERT': {
      if (open === null) return [];
      const { by, why } = input.payload;
      return [resolved(state, open, { title: `${open.content.title}: resolved by ${by}`, text: why ?? '' }, now)];
    }
    case 'TEST_CHANNEL':
      return tested(state, input, now, settings);
    case 'SILENCE_ALERTS':
      return [];
    case 'NOTIFY_OPERATOR': {
      const content = operatorContent(open?.content ?? null, input.payload);
      return raising(state, content, { id: input.eventId, at: now, isOver: false }, settings);
    }
  }
};

/** The alert after the answer to a question. That of a request shows the newest one that still waits, and is over without. */
const settling = (
  state: Alert,
  reported: Content,
  isPardon: boolean,
  now: number,
  settings: Rules,
): readonly Output[] => {
  const { open } = state;
  if (open === null) return [];
  if (reported.requestId === null) {
    const content = settledBy(open.content, reported) ?? (isPardon ? pardonedBy(open.content, reported) : null);
    return content === null ? [] : [settled(state, { ...open, content }, now, settings)];
  }
  const newest = newestRequest(state);
  if (newest === null) return open.content.requestId === null ? [] : ended(state, reported, now, settings);
  const content = inPlace(open.content, newest);
  const isNew = JSON.stringify(content) !== JSON.stringify(open.content);
  return isNew ? [settled(state, { ...open, content }, now, settings)] : [];
};

/** A test message and its end, to one channel. That of an unknown channel goes to no sink, and names the channels. */
const tested = (
  state: Alert,
  { payload, eventId }: Extract<Input, { readonly type: 'TEST_CHANNEL' }>,
  now: number,
  settings: Rules,
): readonly Output[] => {
  const { channel, by, why } = payload;
  const title = `test of the channel ${channel}`;
  const { configured } = settings.routing;
  if (unknownOf([channel], settings.routing).length > 0) {
    const text = `channel ${JSON.stringify(channel)} does not exist; channels: ${configured.join(', ')}`;
    const refused = unsent(state, { ...TEST, title, text, channels: [channel] }, eventId, now);
    return [refused, ...ended(evolve(state, refused, now, settings), { title, text }, now, settings)];
  }
  const event = raised(state, { ...TEST, title, text: `${by}: ${why}`, channels: [channel] }, eventId, now, settings);
  return [event, ...ended(evolve(state, event, now, settings), { title, text: 'the test is over' }, now, settings)];
};

const TEST: Omit<Content, 'title' | 'text' | 'channels'> = {
  ...{ agentId: null, taskId: null, episodeId: null, caseId: null, requestId: null, labels: {}, route: TEST_ROUTE },
  itemId: null,
  askedAt: null,
  ...{ severity: 'info', urgency: 'normal', options: [], questions: [], deadlineAt: null, onTimeout: null },
  ...{ checkpoint: null, blocked: null, groupWaitMs: 0, repeatMs: null },
};

/** `isOver`: it was over before it was reported. Such an alert is raised, and resolved. */
type Raise = { readonly id: string; readonly at: number; readonly isOver: boolean };

const raising = (state: Alert, reported: Content, { id, at, isOver }: Raise, settings: Rules): readonly Output[] => {
  const { open } = state;
  if (open) {
    const content = inPlace(open.content, reported);
    const isNew = JSON.stringify(content) !== JSON.stringify(open.content);
    return isNew
      ? [(content.route === GROUP_ROUTE ? counted : changed)(state, { ...open, content }, at, settings)]
      : [];
  }
  const event = raised(state, reported, id, at, settings);
  if (!isOver) return [event];
  const over = { title: reported.title, text: 'it was over before it was reported' };
  return [event, ...ended(evolve(state, event, at, settings), over, at, settings)];
};

/** The answer to the input; then, the notification that is due. */
const decide = (state: Alert, now: number, input: Input | null, settings: Rules): readonly Output[] => {
  const answer = input === null ? [] : answerTo(state, input, now, settings);
  const after = answer.reduce((before, event) => evolve(before, event, now, settings), state);
  return [...answer, ...due(after, now, settings)];
};

const due = (state: Alert, now: number, settings: Rules): readonly Output[] => {
  const { open, awaited } = state;
  if (open?.ending && now >= open.ending.at) return [resolved(state, open, open.ending, now)];
  if (open && now >= sendFrom(open, settings)) return [updated(state, open, now, settings)];
  if (open || awaited === undefined || now < awaited.at) return [];
  return [raised(state, awaited.content, awaited.id, now, settings)];
};

const answerTo = (state: Alert, input: Input, now: number, settings: Rules): readonly Output[] => {
  const [review, dismissed] = [reviewOf(input), dismissedOf(input)];
  return [
    ...(review === null ? [] : [draft(state, reviewRequested(state.alertKey, review))]),
    ...(dismissed === null ? [] : [draft(state, { type: 'TICKET_DISMISSED' as const, payload: dismissed })]),
    ...changes(state, input, now, settings),
  ];
};

/** A notification that a case requested is sent even if the alert is over within the group wait. */
const ended = (state: Alert, over: Over, now: number, settings: Rules): readonly Output[] => {
  const { open } = state;
  if (open === null) return [];
  const isHeld = now < heldUntil(settings.gates, open.content, open.raisedAt);
  const isOwed = open.sent === null && open.content.caseId !== null && !isHeld;
  if (!isOwed) return [resolved(state, open, over, now)];
  const sent = updated(state, open, now, settings);
  return [sent, ...ended(evolve(state, sent, now, settings), over, now, settings)];
};

const evolve = (state: Alert, event: Output, now: number, settings: Rules): Alert => {
  switch (event.type) {
    case 'ALERT_RAISED':
    case 'ALERT_UPDATED': {
      const { awaited, ...rest } = state;
      return { ...rest, open: opened(state.open, event.payload, now, settings) };
    }
    case 'ALERT_ACKNOWLEDGED':
      return { ...state, open: state.open && { ...state.open, acknowledgedBy: event.payload.by } };
    case 'ALERT_RESOLVED':
      return kept({ ...state, open: null, ...(state.agents && { agents: state.agents.map(closed) }) }, now);
    case 'TICKET_ASSESSED':
      return withoutTicket(state);
    case 'TICKET_DISMISSED':
      return kept(state, now);
    case 'SILENCE_CHANGED':
    case 'QUEEN_INTERVENTION_REQUESTED':
    case 'ALERT_DELIVERED':
      return state;
  }
};

/** Without an alert, a key is kept while a late raise, or the answer of a model about its ticket, may still be read. */
const kept = (state: Alert, now: number): Alert =>
  state.open === null
    ? { ...state, keptUntil: now + (state.asked === undefined ? END_KEPT_MS : ASKED_KEPT_MS) }
    : state;

/** A person has acknowledged what was known then: a worse severity and another question or ticket wait again. */
const unread = (open: Open, { severity, itemId }: Pick<Content, 'severity' | 'itemId'>): Open => {
  const isNew = isWorse(severity, open.content.severity) || (itemId !== null && itemId !== open.content.itemId);
  return isNew ? { ...open, acknowledgedBy: null } : open;
};

type RaisedPayload = Extract<Output, { readonly type: 'ALERT_RAISED' | 'ALERT_UPDATED' }>['payload'];

const opened = (before: Open | null, payload: RaisedPayload, now: number, settings: Rules): Open => {
  const {
    alertKey: _,
    alertId,
    deliverAt,
    sinks,
    raisedAt: recordedAt,
    isPardoned: __,
    isQuiet,
    firstFor: ___,
    ...content
  } = {
    ...{ isQuiet: false, firstFor: [], ...payload },
  };
  const raisedAt = recordedAt ?? 0;
  const unsent = { sent: null, sendAt: raisedAt + waitOf(content, settings) };
  const known =
    before === null ? { ...unsent, freshSince: null, acknowledgedBy: null, ending: null } : unread(before, content);
  if (deliverAt === null) return { ...known, alertId, raisedAt, content, freshSince: known.freshSince ?? now };
  if (isQuiet && known.sent) {
    const sent = { ...known.sent, question: questionOf(content) };
    return { ...known, alertId, raisedAt, content, sent };
  }
  const to = [...new Set([...(known.sent?.to ?? []), ...sinks])];
  const { severity, urgency } = content;
  const sent = { severity, urgency, question: questionOf(content), to };
  return {
    ...known,
    alertId,
    raisedAt,
    content,
    sent,
    freshSince: null,
    sendAt: deliverAt + repeatOf(content, settings),
  };
};

const dueAt = ({ open, awaited, workingCase, keptUntil }: Alert, settings: Rules): number => {
  if (open) return open.ending?.at ?? sendFrom(open, settings);
  if (workingCase !== undefined) return awaited?.at ?? NEVER;
  return awaited?.at ?? keptUntil ?? NEVER;
};

/** One alert for each episode: raised once, updated in place, resolved under the same key. A later raise is a new alert. */
export const alertRule = (rules: Rules): Decider<Alert, Input, Output> => ({
  initial,
  observe: (state, input, clock) => observe(state, input, clock, rules),
  decide: (state, { now }, input) => decide(state, now, input, rules),
  evolve: (state, event, { now }) => evolve(state, event, now, rules),
  dueAt: (state) => dueAt(state, rules),
  forgets: ({ open, awaited, workingCase, requests = [], keptUntil }, { now }) =>
    open === null &&
    awaited === undefined &&
    workingCase === undefined &&
    requests.length === 0 &&
    keptUntil !== undefined &&
    now >= keptUntil,
});
