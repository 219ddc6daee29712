import { createHash } from 'node:crypto';
import type { EscalationTicket, TicketFindings } from '@vigil/events';
import { excusesUntil, spell } from '@vigil/policy';
import { filedInEpisode } from '../evaluator/state.ts';
import { ending } from '../history/progress/progress-evidence.ts';
import type { Steps } from '../history/progress/steps.ts';
import { type Excuses, excusedUntil, excusesOf } from '../judgement/excuses.ts';
import { type Due, isWorse, loopFrom, stepping, ticketsDue } from '../judgement/tickets.ts';
import { absentFor } from '../signals/signal.ts';
import { type Announcement, type AnnouncementContext, announcement, evidenceOf } from './events.ts';

const MINUTE_MS = 60_000;
const NOTHING: readonly Announcement[] = [];

/**
 * Announces the tickets that people filed, then the worst due ticket, unless one at least as severe has been filed in
 * the episode.
 */
export const ticketsFiled = (context: AnnouncementContext): readonly Announcement[] => {
  const { state, rules, judgement } = context;
  if (state.tickets.length === 0 && rules.policy.ticket === null) return NOTHING;
  const requested = state.tickets.map((ticket) => filed(context, ticket));
  if (state.excluded) return requested;
  const worst = ticketsDue(rules, state.history, judgement)
    .filter(({ from }) => from <= judgement.at.now)
    .reduce<Due | null>((most, due) => (most && !isWorse(due.severity, most.severity) ? most : due), null);
  if (worst === null || alreadyFiled(context, worst)) return requested;
  return [...requested, filed(context, ticketOf(context, worst))];
};

/**
 * A severity is filed once while an excuse holds, because triage then dismisses it, and once without an excuse where
 * the finding still stands.
 */
const alreadyFiled = (context: AnnouncementContext, { severity }: Due): boolean => {
  const before = filedInEpisode(context.state);
  if (before === null || isWorse(severity, before.severity)) return false;
  if (excusedUntil(excusesIn(context), before.dismissedAt[severity] ?? null) > context.judgement.at.now) return true;
  return before.unexcused !== null && !isWorse(severity, before.unexcused);
};

const excusesIn = ({ state, rules, judgement }: AnnouncementContext): Excuses =>
  excusesOf(rules, state.history, judgement);

const filed = (context: AnnouncementContext, ticket: EscalationTicket): Announcement =>
  announcement(context, 'WORKER_ESCALATION_TICKET', { ticket, findings: findingsOf(context, ticket.severity) });

/** When a ticket of this severity was dismissed, and no excuse dismisses it again; null: an excuse may dismiss it. */
const usedUp = ({ state, judgement }: AnnouncementContext, severity: EscalationTicket['severity']): number | null => {
  const at = severity === 'UNKNOWN' ? undefined : filedInEpisode(state)?.dismissedAt[severity];
  return at !== undefined && excusesUntil(at) <= judgement.at.now ? at : null;
};

const findingsOf = (context: AnnouncementContext, severity: EscalationTicket['severity']): TicketFindings => {
  const { state, rules, judgement } = context;
  const { history } = state;
  const { now } = judgement.at;
  const { unrecoverable, progressAt, timeoutAt } = excusesIn(context);
  const mayExcuse = usedUp(context, severity) === null;
  return {
    signals: rules.rules.filter((_, i) => (judgement.from[i] ?? 0) <= now).map(({ name }) => name),
    transient: mayExcuse && timeoutAt !== null && excusesUntil(timeoutAt) > now,
    progressAt: mayExcuse ? progressAt : null,
    unrecoverable,
    loop: loopFrom(rules, history, judgement) <= now,
  };
};

const ticketOf = (context: AnnouncementContext, due: Due): EscalationTicket => {
  const { state, rules, judgement } = context;
  const { identity, steps, progressEvidence } = state.history;
  const evidence = evidenceOf(rules, state.history, judgement).map(({ words }) => words);
  const stalledMs = absentFor(steps.changed, stepping(rules, judgement));
  const graph = identity.labels.graph ?? identity.taskId ?? state.agentId;
  const findings = findingsOf(context, due.severity);
  const found: Found = {
    stalledMs,
    findings,
    dismissedAt: usedUp(context, due.severity),
    evidence,
  };
  const words = describeTicket(due, steps, found);
  return {
    ticket_id: ticketId(context, due),
    created_at: new Date(judgement.at.now).toISOString(),
    worker_agent_id: state.agentId,
    worker_session_id: identity.instanceId ?? state.agentId,
    worker_node_id: progressEvidence?.phase || graph,
    worker_graph_id: graph,
    severity: due.severity,
    ...words,
    recent_verdicts: steps.recent,
    total_steps_checked: steps.total ?? 0,
    steps_since_last_accept: steps.sinceAccept,
    stall_minutes: stalledMs === null || stalledMs < MINUTE_MS ? null : Math.round((100 * stalledMs) / MINUTE_MS) / 100,
    evidence_snippet: progressEvidence?.snippet || ending(evidence.join('; ')) || words.cause,
  };
};

/** Vigil's namespace for name-based UUIDs (RFC 9562, version 5). */
const NAMESPACE = Buffer.from('b1a0c1f2d0f54e0c9a3e4d1f7a5c2b68', 'hex');

/** A deterministic id, from the agent, its instance, the time and the severity. */
const ticketId = ({ state, judgement }: AnnouncementContext, { severity }: Due): string => {
  const name = `${state.agentId} ${state.history.identity.instanceId} ${state.instanceNumber} ${judgement.at.now} ${severity}`;
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

type Words = Pick<EscalationTicket, 'cause' | 'judge_reasoning' | 'suggested_action'>;

/**
 * What a ticket describes. `stalledMs`: null without steps. `dismissedAt`: when a ticket of its severity was dismissed,
 * so that no excuse counts any more; null: one may count.
 */
type Found = {
  readonly stalledMs: number | null;
  readonly findings: TicketFindings;
  readonly dismissedAt: number | null;
  readonly evidence: readonly string[];
};

/** The observation, the reason and the suggested action, from the same figures that made the ticket due. */
const describeTicket = (due: Due, { sinceAccept, recent }: Steps, found: Found): Words => {
  const cause = causeOf(due, sinceAccept, found);
  const reached = due.at === null ? 'a stall' : `${due.at} steps without an ACCEPT`;
  const verdicts = recent.length === 0 ? [] : [`last judgements ${recent.join(', ')}`];
  const reasons = [`${due.severity} from ${reached} on: ${cause}`, ...verdicts, ...usedUpWords(due, found)];
  return {
    cause,
    judge_reasoning: [...reasons, ...found.evidence].join('; '),
    suggested_action: actionOf(due.at === null, found),
  };
};

const usedUpWords = ({ severity }: Due, { dismissedAt }: Found): readonly string[] =>
  dismissedAt === null
    ? []
    : [
        `progress no longer counts: a ${severity} ticket was dismissed for it at ${new Date(dismissedAt).toISOString()}`,
      ];

/** What was observed: a stall, a doom loop, or only the count. */
const causeOf = ({ at }: Due, sinceAccept: number, { stalledMs, findings: { loop } }: Found): string => {
  if (at === null) return `stall: no step for ${spell(stalledMs ?? 0)}`;
  const counted = `${sinceAccept} steps without an ACCEPT`;
  return loop ? `doom loop: ${counted}, and the same calls, the same errors or RETRY in a row` : counted;
};

/** One of the three actions that hive's ticket offers, with its reason. */
const actionOf = (stall: boolean, { findings: { unrecoverable, loop } }: Found): string => {
  if (unrecoverable) return 'kill session: its error does not pass by itself';
  if (stall) return 'restart: its last step is too long ago';
  if (loop) return 'restart: it repeats itself without new information';
  return 'human review: read its last steps and its output';
};
