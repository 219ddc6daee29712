import type { Axis, TicketSeverity } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import type { History } from '../history/history.ts';
import { type Judging, unexcused } from '../history/moment.ts';
import { absentFrom } from '../signals/signal.ts';
import { excusedUntil, type Judgement } from './judge.ts';
import type { Rules } from './rules.ts';

/** A ticket and when it is due, on `now`'s axis. `at`: the number of steps; null for a stall. */
export type Due = { readonly severity: TicketSeverity; readonly from: number; readonly at: number | null };

const MILDEST_FIRST: readonly TicketSeverity[] = ['low', 'medium', 'high', 'critical'];
const LOOPS: ReadonlySet<string> = new Set(['repeated_calls', 'repeated_error']);
/** This many RETRY in a row are a loop, even without other evidence. */
const RETRIES = 3;

export const isWorse = (one: TicketSeverity, than: TicketSeverity): boolean =>
  MILDEST_FIRST.indexOf(one) > MILDEST_FIRST.indexOf(than);

/** The due tickets, by steps without an ACCEPT or by a stall. Each is due when its limit is reached. */
export const ticketsDue = (rules: Rules, history: History, judgement: Judgement): readonly Due[] => {
  const { ticket } = rules.policy;
  if (ticket === null || history.end !== null) return [];
  const grace = history.started.now + ticket.graceMs;
  const free = suspendedUntil(rules, judgement, 'repetition');
  const looping = loopFrom(rules, history, judgement);
  const ofSteps = ticket.bands.map(({ at, severity, needsLoop }): Due => {
    const reached = history.steps.sinceAccept >= at ? history.steps.at : NEVER;
    return { severity, at, from: Math.max(reached, grace, free, needsLoop ? looping : 0) };
  });
  if (ticket.stallMs === null) return ofSteps;
  const judging = stepping(rules, judgement);
  const stalled = absentFrom(history.steps.changed, ticket.stallMs - 1, judging);
  const absences = rules.groups[rules.stalling]?.suspendedBy ?? [];
  const from = Math.max(grace, excusedUntil(rules, absences, history, judging, judgement.until, stalled));
  return [...ofSteps, { severity: 'critical', at: null, from }];
};

/** When the agent enters a loop: a rule of repetition fires, or three RETRY come in a row. */
export const loopFrom = ({ rules }: Rules, { steps }: History, { from }: Judgement): number => {
  let first = steps.retries >= RETRIES ? steps.at : NEVER;
  for (const [i, { signalName }] of rules.entries())
    if (LOOPS.has(signalName)) first = Math.min(first, from[i] ?? NEVER);
  return first;
};

/** The time of the judgement of a stall, which is judged like the rule no_step. */
export const stepping = ({ stalling }: Rules, { judging, at }: Judgement): Judging =>
  judging[stalling] ?? unexcused(at);

const suspendedUntil = ({ exemptions }: Rules, { until }: Judgement, axis: Axis): number => {
  let last = 0;
  for (const [i, { exemption }] of exemptions.entries())
    if (exemption.suspends.includes(axis)) last = Math.max(last, until[i] ?? 0);
  return last;
};
