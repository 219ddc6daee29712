import type { AlertMatcher, AlertSeverity } from '@vigil/events';
import { NEVER } from '@vigil/stream';
import { type Content, isWorse, questionOf } from './content.ts';
import { type Routing, sinksOf } from './routing.ts';

/**
 * What sinks have received. `sentSeverity`: null: nothing; `sentTo`: the sinks; `sentQuestion`: the last question;
 * `sendAt`: when the alert is repeated.
 */
export type Open = {
  readonly alertId: string;
  readonly raisedAt: number;
  readonly content: Content;
  readonly sentSeverity: AlertSeverity | null;
  readonly sentTo: readonly string[];
  readonly sentQuestion: string | null;
  readonly sendAt: number;
  readonly acknowledgedBy: string | null;
};

export type Silence = { readonly matchers: readonly AlertMatcher[]; readonly until: number };
type Known = { readonly silence: Silence | null };

/** All sinks are notified at once of a worse severity and of a new question. */
const isUrgent = ({ content, sentSeverity, sentQuestion }: Open): boolean => {
  const question = questionOf(content);
  return (
    sentSeverity !== null &&
    (isWorse(content.severity, sentSeverity) || (question !== null && question !== sentQuestion))
  );
};

const newTo = ({ content, sentTo }: Open, routing: Routing): readonly string[] =>
  sinksOf(content, routing).filter((sink) => !sentTo.includes(sink));

/**
 * From when sinks are notified: after the group wait, at once of news, and again until the alert is acknowledged; not
 * while it is silenced.
 */
export const sendFrom = ({ silence }: Known, open: Open, routing: Routing): number => {
  const { content, sentSeverity, sendAt, acknowledgedBy } = open;
  const isNew = isUrgent(open) || (sentSeverity !== null && newTo(open, routing).length > 0);
  const from = isNew ? 0 : sentSeverity !== null && acknowledgedBy !== null ? NEVER : sendAt;
  return silence && matches(silence, content) ? Math.max(from, silence.until) : from;
};

/** The sinks to notify now: all, or only those with news. */
export const sinksToSend = (open: Open, now: number, routing: Routing): readonly string[] => {
  const isDue = now >= open.sendAt && (open.sentSeverity === null || open.acknowledgedBy === null);
  const fresh = newTo(open, routing);
  return isDue || isUrgent(open) || fresh.length === 0 ? sinksOf(open.content, routing) : fresh;
};

export const isSilenced = ({ silence }: Known, content: Content, now: number): boolean =>
  silence !== null && now < silence.until && matches(silence, content);

/** All matchers; a field is one of the alert's own or a label. */
const matches = ({ matchers }: Silence, content: Content): boolean =>
  matchers.every(({ field, value }) => ({ ...content.labels, ...content })[field] === value);
