import { CorrectThePolicy, parseYaml } from '@vigil/policy';
import type { FiguresResult, ReplayRow, VerifyResult, WhatIfResult } from '@vigil/read-model';
import { timeIn } from './places.ts';
import { clockTime } from './time.ts';

/** The spans that the form offers, by their length; `own`: from and to are fields. */
export const SPANS = [
  { name: 'hour', title: 'Last hour', ms: 3_600_000 },
  { name: 'hours', title: 'Last 6 hours', ms: 21_600_000 },
  { name: 'day', title: 'Last 24 hours', ms: 86_400_000 },
  { name: 'stored', title: 'Everything stored', ms: null },
  { name: 'own', title: 'From and to', ms: null },
] as const;
export type SpanName = (typeof SPANS)[number]['name'];

/** The choice of a policy's own text. No policy has such a name. */
export const OWN_TEXT = '@text';

/** What is in the form of a replay, as fields have it. */
export type ReplayForm = {
  readonly kind: 'verify' | 'what_if';
  readonly span: SpanName;
  /** local times such as `2026-11-27T14:03:10`; empty: no limit */
  readonly from: string;
  readonly to: string;
  readonly agent: string;
  /** a published policy, OWN_TEXT, or empty: none is chosen */
  readonly policy: string;
  readonly text: string;
  /** empty: all recorded policies */
  readonly insteadOf: string;
};

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;

/** A time as a field of a local time has it. `offsetMinutes`: minutes to be added to UTC. */
export const localTime = (at: number, offsetMinutes: number): string =>
  new Date(at + offsetMinutes * MINUTE_MS).toISOString().slice(0, 19);

/** The moment of such a field, epoch milliseconds; null: it is empty. */
export const instantOf = (local: string, offsetMinutes: number): number | null => {
  const at = Date.parse(`${local}Z`);
  return Number.isNaN(at) ? null : at - offsetMinutes * MINUTE_MS;
};

/** The form of an address: a link to a replay has its agent and span. The span includes both ends, in whole seconds. */
export const formIn = (query: string, offsetMinutes: number): ReplayForm => {
  const [since, until] = [timeIn(query, 'since'), timeIn(query, 'until')];
  return {
    ...{ kind: 'verify', policy: '', text: '', insteadOf: '' },
    span: since === null && until === null ? 'hour' : 'own',
    from: since === null ? '' : localTime(since, offsetMinutes),
    to: until === null ? '' : localTime(until + SECOND_MS - 1, offsetMinutes),
    agent: new URLSearchParams(query).get('agent') ?? '',
  };
};

export type Body = { readonly kind: string; readonly [field: string]: unknown };

const spanOf = ({ span, from, to }: ReplayForm, now: number, offsetMinutes: number) => {
  if (span === 'own') return { since: instantOf(from, offsetMinutes), until: instantOf(to, offsetMinutes) };
  const { ms = null } = SPANS.find(({ name }) => name === span) ?? {};
  return { since: ms === null ? null : now - ms, until: null };
};

const given = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== ''));

/** The replay that a form asks for, or what is to be corrected first. `now`: epoch milliseconds */
export const bodyOf = (form: ReplayForm, now: number, offsetMinutes: number): Body | { readonly mistake: string } => {
  const { kind, policy, insteadOf } = form;
  const span = given({ ...spanOf(form, now, offsetMinutes), agent: form.agent.trim() });
  if (kind === 'verify') return { kind, ...span };
  if (policy === '') return { mistake: 'Choose the policy for the span.' };
  if (policy !== OWN_TEXT) return { kind, ...span, ...given({ policy, insteadOf }) };
  if (form.text.trim() === '') return { mistake: 'Write the text of the policy.' };
  try {
    return { kind, ...span, ...given({ document: parseYaml(form.text, 'policy'), insteadOf }) };
  } catch (error) {
    if (error instanceof CorrectThePolicy) return { mistake: error.message };
    throw error;
  }
};

/** Where the file of the span is. */
export const exportAddress = (form: ReplayForm, now: number, offsetMinutes: number): string => {
  const span = given({ ...spanOf(form, now, offsetMinutes), agent: form.agent.trim() });
  const query = Object.entries(span).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return query.length === 0 ? '/v1/export' : `/v1/export?${query.join('&')}`;
};

/** `verify`, `figures` or `what if`. */
export const kindText = ({ kind, policyName, insteadOf }: ReplayRow): string => {
  if (kind !== 'what_if') return kind;
  return `what if ${policyName ?? 'another policy'}${insteadOf === null ? '' : ` instead of ${insteadOf}`}`;
};

export const spanText = ({ since, until }: ReplayRow, now: number, offsetMinutes: number): string => {
  const text = (at: number) => clockTime(now, at, offsetMinutes);
  if (since === null && until === null) return 'everything stored';
  if (since === null) return `until ${text(until ?? now)}`;
  return until === null ? `from ${text(since)}` : `${text(since)} to ${text(until)}`;
};

const grouped = (count: number): string => count.toLocaleString('en-US');

const readText = ({ done, of }: ReplayRow): string => {
  if (of === null) return 'running: opening the log';
  const share = of === 0 ? 100 : Math.floor((100 * done) / of);
  return `running: ${grouped(done)} of ${grouped(of)} records, ${share} %`;
};

/** How a replay stands, in words. */
export const standingText = (row: ReplayRow): string => {
  switch (row.state) {
    case 'running':
      return readText(row);
    case 'failed':
      return `failed: ${row.why ?? ''}`;
    case 'cancelled':
      return row.why ?? 'cancelled';
    case 'waiting':
    case 'done':
      return row.state;
  }
};

const observations = (count: number): string => `${grouped(count)} ${count === 1 ? 'observation' : 'observations'}`;
const agents = (count: number): string => `${grouped(count)} ${count === 1 ? 'agent' : 'agents'}`;

const judged = (different: number, all: number): string =>
  `${different} of ${agents(all)} ${different === 1 ? 'is' : 'are'} judged differently`;

/** What a verification has found, in a sentence. */
export const verifiedText = ({ decisions, agents: all, differentCount }: VerifyResult): string => {
  if (all === 0) return 'Nothing is decided in this span, so nothing was compared.';
  const same = `${grouped(decisions)} decisions about ${agents(all)} are as recorded.`;
  return differentCount === 0 ? same : `${judged(differentCount, all)} now. ${same}`;
};

/** What a what if has found, in a sentence. */
export const whatIfText = ({ agents: all, differentCount, actedOtherwise }: WhatIfResult, policy: string): string =>
  differentCount === 0
    ? `No agent is judged differently under ${policy}.`
    : `${judged(differentCount, all)} under ${policy}, ${actedOtherwise} with another act.`;

/** What a replay of figures has read, in a sentence. */
export const figuresText = ({ at, observations: read, isEarlier }: FiguresResult): string => {
  if (at.length === 0) return 'The log has nothing about the agent in this span.';
  const drawn = `Drawn from ${observations(read)} of the log, at ${at.length === 1 ? 'one moment' : `${grouped(at.length)} moments`}.`;
  return isEarlier
    ? `${drawn} The agent is older than the first stored one, so figures that count from its beginning are too small.`
    : drawn;
};

/** What was not compared, and why; a line each. */
export const leftOutLines = (result: VerifyResult | WhatIfResult): readonly string[] => {
  const { earlierCount, earlier } = result;
  const names = earlier.slice(0, 5).join(', ');
  const more = earlierCount > 5 ? ` and ${grouped(earlierCount - 5)} more` : '';
  const known =
    earlierCount === 0
      ? []
      : [`Not compared, because they were known before the first stored observation: ${names}${more}.`];
  if (result.kind === 'what_if') return known;
  const { newer, unreadable } = result;
  return [
    ...known,
    ...(newer === 0 ? [] : [`${grouped(newer)} newer decisions were not compared: they were not committed yet.`]),
    ...(unreadable === 0 ? [] : [`${observations(unreadable)} cannot be read: see the dead letters.`]),
  ];
};
