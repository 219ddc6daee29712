import { type BodyOf, type Draft, type DraftWith, type Evidence, type RestOf, Topic } from '@vigil/events';
import { contentHash } from '@vigil/policy';
import type { KnownAgent } from '../evaluator/state.ts';
import { begunAt, type History } from '../history/history.ts';
import type { Judging } from '../history/moment.ts';
import { type Judgement, judgingOf } from '../judgement/judge.ts';
import type { Rule, Rules } from '../judgement/rules.ts';
import { CONFIDENCE } from '../signals/confidence.ts';

export type Announcement = Draft<typeof Topic.agentHealth | typeof Topic.taskHealth | typeof Topic.fleetPresence>;

/**
 * The context of an announcement. `state`: the state after all previous announcements; `fresh`: whether the instance is
 * not announced yet.
 */
export type AnnouncementContext = {
  readonly state: KnownAgent;
  readonly rules: Rules;
  readonly judgement: Judgement;
  readonly fresh: boolean;
};

type AgentTopic = typeof Topic.agentHealth;
type FleetTopic = typeof Topic.fleetPresence;
type About = ReturnType<typeof about>;

/** Fields that every event about an agent carries, so that routing and alerting need no look-up. */
const about = (state: KnownAgent) => {
  const { instanceId, taskId, labels } = state.history.identity;
  return { agentId: state.agentId, instanceId, taskId, episodeId: state.announced.episode?.id ?? null, labels };
};

/** The correlation and policy of a draft. An episode's events keep the correlation id of the heartbeat before it. */
export const chain = ({ state, rules: { policy } }: AnnouncementContext) => {
  const correlationId = state.announced.episode?.correlationId ?? state.history.lastReceipt.correlationId;
  return { correlationId, policy: { name: policy.name, hash: policy.hash } };
};

/** An event about the agent. `payload`: the fields of this event, which may override those of every event. */
export const announcement = <Type extends BodyOf<AgentTopic>['type']>(
  context: AnnouncementContext,
  type: Type,
  payload: RestOf<AgentTopic, Type, About> & Partial<About>,
): DraftWith<AgentTopic, Type, About> => ({
  topic: Topic.agentHealth,
  type,
  key: context.state.agentId,
  ...chain(context),
  payload: { ...about(context.state), ...payload },
});

/** The only key of the topic of presence. */
export const FLEET = 'fleet';

/** The same for the topic of presence. */
export const presenceEvent = <Type extends BodyOf<FleetTopic>['type']>(
  context: AnnouncementContext,
  type: Type,
  payload: RestOf<FleetTopic, Type, About>,
): DraftWith<FleetTopic, Type, About> => ({
  topic: Topic.fleetPresence,
  type,
  key: FLEET,
  ...chain(context),
  payload: { ...about(context.state), ...payload },
});

/** A deterministic id, from the agent, its instance, the number of ids issued before, and the time. */
export const idOf = (kind: 'episode' | 'warrant', state: KnownAgent, now: number): string => {
  const { instanceId } = state.history.identity;
  return `${kind}-${contentHash(`${state.agentId} ${instanceId} ${state.announced.issued} ${now}`)}`;
};

/** The evidence of every rule that fires, in words and figures. A mitigating signal is not evidence. */
export const evidenceOf = ({ rules }: Rules, history: History, judgement: Judgement): Evidence[] =>
  rules.flatMap((rule, i) => {
    const { name, signalName, signal, limits } = rule;
    const onsetAt = judgement.from[i] ?? 0;
    if (onsetAt > judgement.at.now || signal.mitigating) return [];
    const { value, limit, words, hard, matched } = signal.evidence(history, limits, judgingOf(judgement, rule));
    const figure = { words, onsetAt, value, limit, hard, matched: matched ?? null };
    return [{ signal: name, axis: signal.axis, ...figure, confidence: CONFIDENCE[signalName] }];
  });

const MINUTE_MS = 60_000;

/** Watched minutes since the last call. Without a call, since the first one could be expected; output does not count. */
export const idleMinutes = (history: History, { watched }: Judgement['at']): number =>
  Math.max(0, watched - (history.calls.last ?? begunAt(history) ?? history.started.watched)) / MINUTE_MS;

/** Watched minutes since the last checkpoint, or since the start of the instance if there is none. */
export const unsavedMinutes = ({ checkpoint, started }: History, { watched }: Judgement['at']): number =>
  Math.max(0, watched - (checkpoint.mark ?? started.watched)) / MINUTE_MS;

/**
 * The minutes that the finding is about. Of an absence it is the watched time since its mark, of a loop the time since
 * its first call, else the time without a checkpoint. So is that of a loop whose calls came in one heartbeat. A wait
 * does not count against a missing checkpoint, but the reminder names the whole time.
 */
export const findingMinutes = ({ signalName, signal, limits }: Rule, history: History, judging: Judging): number => {
  if (signalName === 'no_checkpoint') return unsavedMinutes(history, judging);
  const { axis, evidence, lasting } = signal;
  const ms =
    axis === 'absence' ? evidence(history, limits, judging).value : (lasting?.(history, limits, judging) ?? null);
  return ms === null || ms === 0 ? unsavedMinutes(history, judging) : ms / MINUTE_MS;
};
