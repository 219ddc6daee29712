import { SINK_FAILING } from '../alert/routing.ts';
import { type Noticed, raise, resolve } from '../notices/notice.ts';

/** After this number of failed rounds in a row people are notified. */
const ROUNDS = 3;

type Failed = {
  /** failed rounds since the last delivered alert: alerts that fail together are one round */
  readonly rounds: number;
  readonly notices: readonly Noticed[];
};

/**
 * Tracks the health of one sink. Its notices have to be reported. What was reported before a restart is unknown: the
 * first success reports that the sink works.
 */
export const sinkHealth = (sink: string) => {
  const about = { agentId: null, taskId: null, labels: { sink }, of: sink };
  const failures = new Map<string, number>();
  let known: 'nothing' | 'failing' | 'well' = 'nothing';
  let rounds = 0;
  const failing = (title: string, why: string): readonly Noticed[] => [
    raise(SINK_FAILING, about, { severity: 'critical', title, text: why }),
  ];
  return {
    /** Repeats its notices until `reported` is called. */
    failed: (eventId: string, why: string): Failed => {
      const ofThis = (failures.get(eventId) ?? 0) + 1;
      failures.set(eventId, ofThis);
      rounds = Math.max(rounds, ofThis);
      const isReportable = rounds >= ROUNDS && known !== 'failing';
      return {
        rounds,
        notices: isReportable ? failing(`alerts do not reach people by ${sink}: they wait for it`, why) : [],
      };
    },
    /** a permanent refusal, or a delivery that took too long, is reported at once */
    refused: (eventId: string, why: string): readonly Noticed[] => {
      failures.delete(eventId);
      return failing(`${sink} has refused an alert: it is a dead letter (onex.dlq.alerting.dead-letter.v1)`, why);
    },
    reported: (): void => {
      known = 'failing';
    },
    succeeded: (): readonly Noticed[] => {
      failures.clear();
      rounds = 0;
      if (known === 'well') return [];
      known = 'well';
      return [resolve(SINK_FAILING, about, `${sink} takes alerts`)];
    },
  };
};
