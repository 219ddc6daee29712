import type { AlertSeverity, AlertUrgency } from '@vigil/events';
import { NEVER } from '@vigil/stream';
import { type Content, hasDeadline, isMoreUrgent, isWorse, questionOf } from './content.ts';
import { type Gates, groupOf, hasQuestions, heldUntil, timeOf } from './gates.ts';
import { type Routing, sinksOf } from './routing.ts';

/** The texts of an end. */
export type Over = { readonly title: string; readonly text: string };

/**
 * What sinks have received. `sent` null: nothing. `question`: the last one. `sendAt`: when the alert is repeated.
 * `ending`: it is over, and its end is sent then unless it rises again before.
 */
export type Open = {
  readonly alertId: string;
  readonly raisedAt: number;
  readonly content: Content;
  readonly sent: Sent | null;
  readonly sendAt: number;
  /** since when sinks have not received its newest content; null: they have */
  readonly freshSince: number | null;
  readonly acknowledgedBy: string | null;
  /** a person has pardoned the agent, and the alert was not raised since; absent: false */
  readonly isPardoned?: boolean;
  readonly ending: (Over & { readonly at: number }) | null;
};

export type Sent = {
  readonly severity: AlertSeverity;
  readonly urgency: AlertUrgency;
  readonly question: string | null;
  readonly to: readonly string[];
};

/**
 * All sinks are notified at once of a worse severity, a higher urgency and of a new question. A request waits for no group
 * wait, because its agent waits with it. Nor does a question with a deadline, which may be shorter.
 */
const isUrgent = ({ content, sent }: Open): boolean => {
  if (sent === null) return content.requestId !== null || hasDeadline(content);
  const question = questionOf(content);
  return (
    isWorse(content.severity, sent.severity) ||
    isMoreUrgent(content.urgency, sent.urgency) ||
    (question !== null && question !== sent.question)
  );
};

const newTo = ({ content, sent }: Open, routing: Routing): readonly string[] =>
  sinksOf(content, routing).filter((sink) => !sent?.to.includes(sink));

/** A step that adds a channel is often followed by a question at once: the channel gets one message for both. */
const GATHER_MS = 1000;

/** A question of a case waits for so much of the group wait at most, milliseconds: many of them at once are one alert. */
export const QUESTION_MS = 2000;

export const questionWaitOf = (content: Content, groupWaitMs: number): number =>
  hasQuestions(groupOf(content) ?? '') ? Math.min(QUESTION_MS, content.groupWaitMs ?? groupWaitMs) : 0;

const questionFrom = ({ content, sent, raisedAt }: Open, groupWaitMs: number): number =>
  sent?.question === questionOf(content) ? 0 : timeOf(content, raisedAt) + questionWaitOf(content, groupWaitMs);

/** What decides when sinks are notified. */
export type Sending = { readonly gates: Gates; readonly routing: Routing; readonly groupWaitMs: number };

/**
 * From when sinks are notified: after the group wait, at once of news, and again until a person acknowledges or pardons; not
 * while it is withheld, or over.
 */
export const sendFrom = (open: Open, { gates, routing, groupWaitMs }: Sending): number => {
  const { content, ending } = open;
  if (ending !== null) return NEVER;
  const from = isUrgent(open) ? 0 : Math.min(repeatFrom(open), newChannelFrom(open, routing));
  return Math.max(from, questionFrom(open, groupWaitMs), heldUntil(gates, content, open.raisedAt));
};

/** A person has answered what sinks received: it is not repeated. */
const isAnswered = ({ acknowledgedBy, isPardoned = false }: Open): boolean => acknowledgedBy !== null || isPardoned;

const repeatFrom = (open: Open): number => (open.sent !== null && isAnswered(open) ? NEVER : open.sendAt);

const newChannelFrom = (open: Open, routing: Routing): number =>
  open.sent === null || newTo(open, routing).length === 0 ? NEVER : (open.freshSince ?? 0) + GATHER_MS;

/** A repetition: no person has answered what sinks received. */
export const isRepetition = (open: Open, now: number, routing: Routing): boolean =>
  open.sent !== null && !isAnswered(open) && now >= open.sendAt && !isUrgent(open) && newTo(open, routing).length === 0;

/** The sinks to notify now: all, or only those with news. */
export const sinksToSend = (open: Open, now: number, routing: Routing): readonly string[] => {
  const isDue = now >= open.sendAt && (open.sent === null || !isAnswered(open));
  const fresh = newTo(open, routing);
  return isDue || isUrgent(open) || fresh.length === 0 ? sinksOf(open.content, routing) : fresh;
};
