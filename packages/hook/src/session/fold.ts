import { type AgentReport, newSession, observe, type SessionEvent, type SessionState } from '@vigil/adapters/session';
import type { ToolCall } from '@vigil/events';
import { NO_PROOF, type Proof, proofAfterReports } from '@vigil/health/proof';
import type { SpoolRecord } from '../spool/spool.ts';
import { asked, denialReason, ended, type HookBreakers, noBreakers, turnOver } from './breakers.ts';

/** What the records of one session come to. Plain JSON. */
export type Fold = {
  readonly session: SessionState;
  readonly breakers: HookBreakers;
  /** what the calls of its own agent show about its completion; not every note has it */
  readonly proof?: Proof;
};

export const newFold: Fold = { session: newSession, breakers: noBreakers };

/** Why a call is not to be made, in words for the model; null: it may be made. */
export type RefusalOf = (call: ToolCall, agent: string | null) => string | null;

/** A session after a record: one report for each agent that has changed. `refusal`: of the call that the record starts. */
export type Folded = { readonly fold: Fold; readonly reports: readonly AgentReport[]; readonly refusal: string | null };

const newestCalls = (before: AgentReport, more: AgentReport): readonly ToolCall[] => {
  const calls = [...(before.fields.tool_calls ?? []), ...(more.fields.tool_calls ?? [])];
  return [...new Map(calls.map((call) => [call.call_id, call])).values()];
};

/** One report for each agent: the newest fields, and the current state of each call. */
export const mergeReports = (before: readonly AgentReport[], more: readonly AgentReport[]): readonly AgentReport[] =>
  more.reduce<readonly AgentReport[]>((all, one) => {
    const known = all.find(({ agent }) => agent === one.agent);
    if (known === undefined) return [...all, one];
    const tool_calls = newestCalls(known, one);
    const errors = [...(known.fields.errors ?? []), ...(one.fields.errors ?? [])];
    const fields = {
      ...known.fields,
      ...one.fields,
      ...(tool_calls.length === 0 ? {} : { tool_calls }),
      ...(errors.length === 0 ? {} : { errors }),
    };
    return all.map((other) => (other === known ? { ...one, fields } : other));
  }, before);

/** After these events of the session's own agent no call is under way: one that was let through and has not ended was not made. */
const endsCalls = (event: SessionEvent): boolean => {
  if (event.agent !== null) return false;
  switch (event.kind) {
    case 'turn_started':
    case 'turn_ended':
    case 'turn_interrupted':
    case 'turn_failed':
    case 'session_ended':
    case 'at_prompt':
    case 'last_answer_seen':
      return true;
    case 'session_started':
      return event.source !== 'compact';
    case 'call_started':
    case 'call_ended':
    case 'call_outcome_pending':
    case 'outcomes_overdue':
    case 'call_refused':
    case 'call_seen':
    case 'result_seen':
    case 'end_seen':
    case 'batch_ended':
    case 'wait_started':
    case 'wait_ended':
    case 'wait_answered':
    case 'subagent_started':
    case 'subagent_ended':
    case 'phase_changed':
    case 'model_answers':
    case 'usage_counted':
    case 'answer_counted':
    case 'usage_metered':
    case 'request_limited':
      return false;
  }
};

const observed = (so: Folded, event: SessionEvent): Folded => {
  const { session, reports } = observe(so.fold.session, event);
  const before = endsCalls(event) ? turnOver(so.fold.breakers) : so.fold.breakers;
  const breakers = reports
    .flatMap(({ fields }) => fields.tool_calls ?? [])
    .filter(({ outcome }) => outcome !== 'running')
    .reduce((state, call) => ended(state, call, event.at), before);
  const proof = proofAfterReports(so.fold.proof ?? NO_PROOF, reports);
  return { ...so, fold: { session, breakers, proof }, reports: mergeReports(so.reports, reports) };
};

const refusedCall = (so: Folded, event: SessionEvent & { kind: 'call_started' }, refusal: string): Folded => {
  const { call_id: callId, tool, args_hash: argsHash } = event.call;
  const { at, agent } = event;
  const refused = observed(so, { kind: 'call_refused', call: { callId, tool, argsHash }, at, agent });
  return { ...refused, refusal: so.refusal ?? refusal };
};

const judged = (so: Folded, event: SessionEvent & { kind: 'call_started' }, refusalOf: RefusalOf): Folded => {
  const refusal = refusalOf(event.call, event.agent);
  if (refusal !== null) return refusedCall(so, event, refusal);
  const { state: breakers, denied } = asked(so.fold.breakers, event.call, event.at);
  const after = { ...so, fold: { ...so.fold, breakers } };
  return denied === null ? after : refusedCall(after, event, denialReason(denied, event.at));
};

/** Folds one event of a session. `refusalOf` null: no hook waits that could still refuse the call that it starts. */
export const foldEvent = (fold: Fold, event: SessionEvent, refusalOf: RefusalOf | null = null): Folded => {
  const so = observed({ fold, reports: [], refusal: null }, event);
  return refusalOf !== null && event.kind === 'call_started' ? judged(so, event, refusalOf) : so;
};

/** The outcome is awaited where the record names the file that has it. */
const withOutcomePending = (event: SessionEvent, { transcripts }: SpoolRecord): SessionEvent => {
  if (event.kind !== 'call_ended' || event.isOutcomeInFile !== true || transcripts.length === 0) return event;
  const { call, name, at, agent } = event;
  return { kind: 'call_outcome_pending', call, name, at, agent };
};

/** Folds one record. Deterministic: of all who fold the same records each comes to the same, refusals included. */
export const foldRecord = (fold: Fold, record: SpoolRecord, refusalOf: RefusalOf): Folded =>
  record.events.reduce<Folded>(
    (so, event) => {
      const one = foldEvent(so.fold, withOutcomePending(event, record), record.canRefuse ? refusalOf : null);
      return { ...one, reports: mergeReports(so.reports, one.reports), refusal: so.refusal ?? one.refusal };
    },
    { fold, reports: [], refusal: null },
  );
