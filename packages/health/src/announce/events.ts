import type { Draft, Evidence, PolicyRef, Topic } from '@vigil/events';
import { contentHash } from '@vigil/policy';
import type { KnownAgent } from '../evaluator/state.ts';
import type { History } from '../history/history.ts';
import { judgingOf, type Verdict } from '../judgement/judge.ts';
import type { Rules } from '../judgement/rules.ts';

export type Announcement = Draft<typeof Topic.agentHealth | typeof Topic.taskHealth | typeof Topic.fleetPresence>;

/** What an announcement is made from. `state`: after all announcements before it; `fresh`: the instance has not been announced. */
export type AnnouncementContext = {
  readonly state: KnownAgent;
  readonly rules: Rules;
  readonly verdict: Verdict;
  readonly fresh: boolean;
};

/** Fields that every event about an agent carries, so that routing and alerting need no look-up. */
export function about(state: KnownAgent, episodeId: string | null) {
  const { instanceId, taskId, labels } = state.history.identity;
  return { agentId: state.agentId, instanceId, taskId, episodeId, labels };
}

/** Chain and policy of a draft: an episode's events keep the heartbeat that came before it. */
export function chain(
  state: KnownAgent,
  { policy: { name, hash } }: Rules,
): { correlationId: string; policy: PolicyRef } {
  return {
    correlationId: state.announced.episode?.correlationId ?? state.history.lastReceipt.correlationId,
    policy: { name, hash },
  };
}

/** The same at every re-decision: from the agent, its instance, how many it has had, and the moment. */
export function idOf(kind: 'episode' | 'warrant', state: KnownAgent, now: number): string {
  const { instanceId } = state.history.identity;
  return `${kind}-${contentHash(`${state.agentId} ${instanceId} ${state.announced.issued} ${now}`)}`;
}

/** Every rule that fires, in words and figures. A mitigating signal is not evidence. */
export function evidenceOf({ rules }: Rules, history: History, verdict: Verdict): Evidence[] {
  return rules.flatMap((rule, i) => {
    const { name, signal, limits } = rule;
    const onsetAt = verdict.from[i] ?? 0;
    if (onsetAt > verdict.at.now || signal.mitigating) return [];
    const { value, limit, words, hard, matched } = signal.evidence(history, limits, judgingOf(verdict, rule));
    return [{ signal: name, axis: signal.axis, words, onsetAt, value, limit, hard, matched: matched ?? null }];
  });
}

const MINUTE_MS = 60_000;

/** Minutes since the last call, else since the last sign of its own; watched. */
export function idleMinutes({ calls, activity, started }: History, { watched }: Verdict['at']): number {
  return Math.max(0, watched - (calls.last ?? activity.own ?? started.watched)) / MINUTE_MS;
}

/** Minutes since the last checkpoint, else since the start of the instance; watched. */
export function workedMinutes({ checkpoint, started }: History, { watched }: Verdict['at']): number {
  return Math.max(0, watched - (checkpoint.mark ?? started.watched)) / MINUTE_MS;
}
