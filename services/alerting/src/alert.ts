import type { AlertMatcher, AlertSeverity, Draft, EventOf, PolicyRef, Topic, TriagedTicket } from '@vigil/events';
import { type Clock, type Decider, NEVER } from '@vigil/stream';
import { type Content, inPlace, isWorse } from './content.ts';
import { type Dismissed, dismissedOf, operatorTold, queenOf, queenRequested } from './queen.ts';

export type Settings = {
  /** how long an alert gathers what belongs to it before sinks are told, milliseconds */
  readonly groupWaitMs: number;
  /** how often sinks are told again of what nobody has acknowledged, milliseconds */
  readonly repeatMs: number;
};

export type Input = EventOf<typeof Topic.notify | typeof Topic.steerAlerts>;
export type Output = Draft<typeof Topic.alert>;

/** `toldAs`: the severity sinks know, null: they know nothing. `tellAt`: when they are told, or told again, if nothing gets worse. */
export type Open = {
  readonly alertId: string;
  readonly raisedAt: number;
  readonly content: Content;
  readonly toldAs: AlertSeverity | null;
  readonly tellAt: number;
  readonly acknowledgedBy: string | null;
};

type Silence = { readonly matchers: readonly AlertMatcher[]; readonly until: number };

/** What has just been heard, and is not answered yet. */
type News =
  | { readonly is: 'raise'; readonly content: Content; readonly id: string; readonly at: number }
  | { readonly is: 'resolve'; readonly title: string; readonly text: string }
  | { readonly is: 'acknowledge'; readonly by: string }
  | ({ readonly is: 'silence'; readonly by: string; readonly why: string } & Silence);

/** One alert key: at most one alert open at a time. */
export type Alert = {
  readonly alertKey: string;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
  readonly open: Open | null;
  readonly silence: Silence | null;
  readonly news: News | null;
  /** for which people have been asked in, and not yet told */
  readonly queen: TriagedTicket | null;
  /** a ticket with which nobody is disturbed, not yet said */
  readonly dismissed: Dismissed | null;
};

const nobody = { correlationId: '', policy: null, open: null, silence: null };
export const initial: Alert = { alertKey: '', ...nobody, news: null, queen: null, dismissed: null };

function observe(state: Alert, input: Input, { now }: Clock): Alert {
  const news = newsOf(state, input, now);
  const queen = queenOf(input);
  const dismissed = dismissedOf(input);
  if (news === null && queen === null && dismissed === null) return state;
  const { key: alertKey, correlationId, policy } = input;
  const chain = state.open ? {} : { correlationId, policy };
  return { ...state, alertKey, ...chain, news, queen, dismissed };
}

/** null: nothing that changes anything. */
function newsOf({ open }: Alert, input: Input, now: number): News | null {
  switch (input.type) {
    case 'NOTIFY': {
      const { alertKey: _, action, timeAgeMs: __, ticket: ___, ...told } = input.payload;
      if (action === 'resolve') return open && { is: 'resolve', title: told.title, text: told.text };
      return action === 'raise' ? raising(open, told, input.eventId, now) : null;
    }
    case 'ACKNOWLEDGE_ALERT':
      return open && open.acknowledgedBy === null ? { is: 'acknowledge', by: input.payload.by } : null;
    case 'SILENCE_ALERTS':
      return { is: 'silence', ...input.payload };
    case 'NOTIFY_OPERATOR':
      return raising(open, operatorTold(open?.content ?? null, input.payload), input.eventId, now);
  }
}

function raising(open: Open | null, told: Content, id: string, at: number): News | null {
  const content = open ? inPlace(open.content, told) : told;
  const isNew = open === null || JSON.stringify(content) !== JSON.stringify(open.content);
  return isNew ? { is: 'raise', content, id, at } : null;
}

/** The answer to what was heard; then, what sinks are due to be told. */
function decide(state: Alert, now: number, settings: Settings): readonly Output[] {
  const answer = [...requested(state), ...dismissals(state), ...answerTo(state, now, settings)];
  const after = answer.reduce((before, event) => evolve(before, event, settings), state);
  return after.open && now >= tellFrom(after, after.open) ? [...answer, updated(after, after.open, now)] : answer;
}

const requested = (state: Alert): readonly Output[] =>
  state.queen === null ? [] : [said(state, queenRequested(state.alertKey, state.queen))];

const dismissals = (state: Alert): readonly Output[] =>
  state.dismissed === null ? [] : [said(state, { type: 'TICKET_DISMISSED', payload: state.dismissed })];

function answerTo(state: Alert, now: number, { groupWaitMs }: Settings): readonly Output[] {
  const { news, open, alertKey } = state;
  switch (news?.is) {
    case undefined:
      return [];
    case 'raise': {
      if (open) {
        const changed = { ...open, content: news.content };
        return [updated(state, changed, now >= tellFrom(state, changed) ? now : null)];
      }
      const deliverAt = groupWaitMs === 0 && !isSilenced(state, news.content, now) ? now : null;
      return [
        said(state, { type: 'ALERT_RAISED', payload: { alertKey, ...news.content, alertId: news.id, deliverAt } }),
      ];
    }
    case 'resolve':
      return open ? [resolved(state, open, news, now)] : [];
    case 'acknowledge':
      return open
        ? [said(state, { type: 'ALERT_ACKNOWLEDGED', payload: { alertKey, alertId: open.alertId, by: news.by } })]
        : [];
    case 'silence': {
      const { matchers, until, by, why } = news;
      return [said(state, { type: 'SILENCE_CHANGED', payload: { matchers, until, by, why } })];
    }
  }
}

type Saying = Output extends infer D ? (D extends Output ? Pick<D, 'type' | 'payload'> : never) : never;
const said = ({ alertKey, correlationId, policy }: Alert, saying: Saying): Output => {
  const draft = { topic: 'onex.evt.alerting.alert.v1', key: alertKey, correlationId, policy } as const;
  return { ...draft, ...saying } as Output;
};

const updated = (state: Alert, { content, alertId }: Open, deliverAt: number | null): Output =>
  said(state, { type: 'ALERT_UPDATED', payload: { alertKey: state.alertKey, ...content, alertId, deliverAt } });

/** Whoever was never told that it began is not told that it is over. */
function resolved(
  state: Alert,
  open: Open,
  news: { readonly title: string; readonly text: string },
  now: number,
): Output {
  const { options: _, deadlineAt: __, ...content } = open.content;
  const isTold = open.toldAs !== null && !isSilenced(state, open.content, now);
  const { alertId, raisedAt } = open;
  const what = { ...content, title: news.title, text: news.text, alertId, raisedAt, deliverAt: isTold ? now : null };
  return said(state, { type: 'ALERT_RESOLVED', payload: { alertKey: state.alertKey, ...what } });
}

/** From when sinks are to be told: after the group wait, when it gets worse, and again while nobody has acknowledged; not while it is silenced. */
function tellFrom({ silence }: Alert, { content, toldAs, tellAt, acknowledgedBy }: Open): number {
  const hasWorsened = toldAs !== null && isWorse(content.severity, toldAs);
  const from = hasWorsened ? 0 : toldAs !== null && acknowledgedBy !== null ? NEVER : tellAt;
  return silence && matches(silence, content) ? Math.max(from, silence.until) : from;
}

const isSilenced = ({ silence }: Alert, content: Content, now: number): boolean =>
  silence !== null && now < silence.until && matches(silence, content);

/** All matchers; a field is one of the alert's own or a label. */
const matches = ({ matchers }: Silence, content: Content): boolean =>
  matchers.every(({ field, value }) => ({ ...content.labels, ...content })[field] === value);

function evolve(state: Alert, event: Output, { groupWaitMs, repeatMs }: Settings): Alert {
  switch (event.type) {
    case 'ALERT_RAISED':
    case 'ALERT_UPDATED': {
      const { alertKey: _, alertId, deliverAt, ...content } = event.payload;
      const raisedAt = state.open?.raisedAt ?? (state.news?.is === 'raise' ? state.news.at : 0);
      const { toldAs = null, tellAt = raisedAt + groupWaitMs, acknowledgedBy = null } = state.open ?? {};
      const told = deliverAt === null ? { toldAs, tellAt } : { toldAs: content.severity, tellAt: deliverAt + repeatMs };
      return { ...state, news: null, open: { alertId, raisedAt, content, ...told, acknowledgedBy } };
    }
    case 'ALERT_ACKNOWLEDGED':
      return { ...state, news: null, open: state.open && { ...state.open, acknowledgedBy: event.payload.by } };
    case 'ALERT_RESOLVED':
      return { ...state, news: null, open: null };
    case 'SILENCE_CHANGED':
      return { ...state, news: null, silence: { matchers: event.payload.matchers, until: event.payload.until } };
    case 'QUEEN_INTERVENTION_REQUESTED':
      return { ...state, queen: null };
    case 'TICKET_DISMISSED':
      return { ...state, dismissed: null };
    case 'ALERT_DELIVERED':
      return state;
  }
}

/** One alert an episode: raised once, updated in place, resolved under the same key; what rises again is a new one. */
export const alerts = (settings: Settings): Decider<Alert, Input, Output> => ({
  initial,
  observe,
  decide: (state, { now }) => decide(state, now, settings),
  evolve: (state, event) => evolve(state, event, settings),
  dueAt: (state) => (state.open ? tellFrom(state, state.open) : NEVER),
});
