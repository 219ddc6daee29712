import type { Away, Knowledge } from '@vigil/read-model';
import { awaySince } from '@vigil/read-model/knowledge';

/** An answer that takes longer counts as none, milliseconds: the page reports blindness within five seconds. */
export const ANSWER_MS = 3000;
/**
 * How often the page asks how old the answers are, milliseconds. The sum of all limits is in own-health/knowledge.ts of the
 * dashboard.
 */
export const KNOWLEDGE_MS = 1000;

/** What a person without a session does next: the browser's other tabs use the new session, too. */
const LOG_IN = 'Open the link that `vigil login` or `npm start` prints';
export const NO_SESSION = `this browser has no session. ${LOG_IN}`;
/** In place of the age of the answers. `wasOpen`: the page had a session before. */
export const sessionText = (wasOpen: boolean): string =>
  wasOpen
    ? `Your session has ended: log in again. ${LOG_IN} in this browser, and this page continues. States are as they were then.`
    : `This browser has no session. ${LOG_IN} in it, and this page continues.`;

/**
 * The connection of the page, epoch milliseconds. `wellAt`: the last good answer; null: there was none. `lostSince`: since
 * when the dashboard gives no states; null: it does. `needsLogin`: it answers, but only to a browser with a session.
 */
export type Connection = {
  readonly wellAt: number | null;
  readonly lostSince: number | null;
  readonly needsLogin: boolean;
};

export const CONNECTED: Connection = { wellAt: null, lostSince: null, needsLogin: false };

type FleetAnswered = {
  readonly value: { readonly knowledge: Knowledge } | null;
  readonly error: string | null;
  readonly part: string | null;
  readonly since: number | null;
  readonly needsLogin: boolean;
};

const DASHBOARD = 'the dashboard';

/**
 * The parts of Vigil that do not answer. Without an answer of its own the page names what the dashboard misses, or the
 * dashboard; the others are those of the last answer.
 */
export const awayOf = (
  { value, error, part, needsLogin }: FleetAnswered,
  { lostSince }: Pick<Connection, 'lostSince'>,
): readonly Away[] => {
  const known = value?.knowledge.away ?? [];
  if (error === null || needsLogin || lostSince === null) return known;
  const missing = part ?? DASHBOARD;
  return [{ part: missing, since: lostSince, detail: error }, ...known.filter((one) => one.part !== missing)];
};

/** The connection after an answer, or the lack of one, at `now`. An outage has the time of its first failure, or what the dashboard reports. */
export const connectionAfter = (
  { wellAt, lostSince }: Connection,
  { value, error, since, needsLogin }: FleetAnswered,
  now: number,
): Connection =>
  error === null
    ? { wellAt: value === null ? null : now, lostSince: null, needsLogin }
    : { wellAt, needsLogin, lostSince: since ?? lostSince ?? awaySince(value?.knowledge.upTo ?? null, wellAt ?? now) };

/** Since when changes may be missing, epoch milliseconds; null: the page is current. */
export const blindSinceOf = (
  knowledge: Knowledge | null,
  { lostSince }: Pick<Connection, 'lostSince'>,
): number | null => {
  const since = [knowledge?.blindSince ?? null, lostSince].filter((at) => at !== null);
  return since.length === 0 ? null : Math.min(...since);
};

/** The note beside an answer that is given while the page is blind: Vigil decides by the present state. Null: the page is current. */
export const oldStateText = (isBlind: boolean): string | null =>
  isBlind
    ? 'The shown state may be old. The command is written, and takes effect when Vigil works again. It is refused if the state has changed.'
    : null;

/** What a standing that begins with a verb was. */
const PAST: readonly (readonly [present: RegExp, past: string])[] = [
  [/^asks\b/, 'asked'],
  [/^waits\b/, 'was waiting'],
  [/^more time\b/, 'had more time'],
];

/** A state that may have changed since is not shown as the present one. */
const pastText = (state: string): string => {
  const found = PAST.find(([present]) => present.test(state));
  return found === undefined ? `was ${state}` : state.replace(...found);
};

/** How the views show what may have changed. `until`: the moment until which it is known, epoch milliseconds. */
export type Known = {
  readonly isNow: boolean;
  readonly until: number;
  /** `STUCK`, or `was STUCK` */
  readonly text: (state: string) => string;
  /** `STUCK since 10:58:00`, or `was STUCK at 11:02:03`; `since` is epoch milliseconds */
  readonly sinceText: (state: string, since: number, timeText: (at: number) => string) => string;
  /** the class of a state, which has no colour when it is old */
  readonly tone: (tone: string) => string;
};

/** Every view shows states by this. `blindSince`: since when changes may be missing; null: the page is current. */
export const knownOf = (blindSince: number | null, now: number): Known => {
  const isNow = blindSince === null;
  const until = blindSince ?? now;
  const text = (state: string): string => (isNow ? state : pastText(state));
  return {
    ...{ isNow, until, text },
    sinceText: (state, since, timeText) =>
      isNow ? `${state} since ${timeText(since)}` : `${text(state)} at ${timeText(until)}`,
    tone: (tone) => (isNow ? tone : 'state-was'),
  };
};
