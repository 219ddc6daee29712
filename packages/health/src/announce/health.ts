import type { Evidence, HealthState } from '@vigil/events';
import { NEVER } from '@vigil/stream';
import { lostForGoodFrom, newestCheckpoint } from '../history/history.ts';
import { type Shown, shownOf } from '../judgement/judge.ts';
import { describeEnd } from '../signals/fact.ts';
import { type Announcement, type AnnouncementContext, announcement, evidenceOf, idOf } from './events.ts';

/**
 * Announces a state that differs from the last announced one. An instance begins HEALTHY, so the end of one that began and
 * ended at once is a change, though the previous one had ended too.
 */
export const stateChanged = (context: AnnouncementContext): Announcement[] => {
  const { state, rules, judgement, fresh } = context;
  const { announced, history } = state;
  const from =
    fresh && judgement.state === 'TERMINATED' && announced.state === 'TERMINATED' ? 'HEALTHY' : announced.state;
  if (from === judgement.state) return [];
  const { runtimeId, attempt, maxAttempts } = history.identity;
  const evidence = evidenceOf(rules, history, judgement);
  return [
    announcement(context, 'HEALTH_STATE_CHANGED', {
      episodeId: episodeOf(context),
      from,
      to: judgement.state,
      reason: reasonOf(judgement.state, evidence, context),
      exemption: shownTo(context)?.name ?? null,
      onsetAt: judgement.onsetAt,
      endReason: history.end?.reason ?? null,
      endOrderId: history.end?.orderId ?? null,
      endReported: judgement.at.now < lostForGoodFrom(history),
      runtimeId,
      attempt,
      maxAttempts,
      evidence,
      leftTaskId: leftOf(context),
      endCheckpoint: judgement.state === 'TERMINATED' ? newestCheckpoint(history) : null,
    }),
  ];
};

/**
 * The task of the last announced state, if the agent no longer has that task. Without it, the task's state would never
 * end.
 */
const leftOf = ({ state: { announced, history } }: AnnouncementContext): string | null =>
  announced.stateTaskId === history.identity.taskId ? null : (announced.stateTaskId ?? null);

/** An episode opens when the agent leaves HEALTHY. An expected end, or a return to HEALTHY, opens none. */
const episodeOf = ({ state, judgement }: AnnouncementContext): string | null => {
  const { announced, history } = state;
  if (announced.episode) return announced.episode.id;
  const well =
    judgement.state === 'HEALTHY' ||
    (history.end !== null && (history.end.orderId !== null || history.end.reason === 'finished'));
  return well ? null : idOf('episode', state, judgement.at.now);
};

type Named = Omit<Shown, 'name'> & { readonly name: Shown['name'] | 'exiting' };

/** The exemption as people see it: an idle agent that exits is shown as exiting. */
const shownTo = ({ state: { history }, rules, judgement }: AnnouncementContext): Named | null => {
  const shown = shownOf(rules, history, judgement);
  return shown?.name === 'idle' && history.activity.value === 'exiting' ? { ...shown, name: 'exiting' } : shown;
};

const reasonOf = (to: HealthState, evidence: readonly Evidence[], context: AnnouncementContext): string => {
  const { state, rules, fresh } = context;
  if (to === 'TERMINATED') return state.history.end ? describeEnd(state.history.end) : 'ended';
  if (to === 'HEALTHY') {
    const exempt = shownTo(context);
    if (fresh) return 'a new instance has started';
    // An exemption that held in the bad state too has not ended it.
    const begins = exempt !== null && exempt.name !== state.announced.exemption;
    return begins ? `exempt: ${exempt.name}` : 'nothing speaks against it any more';
  }
  const those = rules.states.find((s) => s.state === to)?.anyOf.flat() ?? [];
  const names = new Set(those.map((i) => rules.rules[i]?.name));
  return evidence.flatMap(({ signal, words }) => (names.has(signal) ? [words] : [])).join('; ');
};

/** Announces an exemption that differs from the last announced one. */
export const exemptionChanged = (context: AnnouncementContext): Announcement[] => {
  const { announced, history } = context.state;
  const shown = history.end ? null : shownTo(context);
  const from = announced.exemption;
  const to = shown?.name ?? null;
  if (to === from) return [];
  const until = shown && shown.until < NEVER ? shown.until : null;
  return [announcement(context, 'EXEMPTION_CHANGED', { from, to, suspends: [...(shown?.suspends ?? [])], until })];
};
