import { SINK_FAILING } from '../alert/routing.ts';
import { type Noticed, raise, resolve } from '../notices/notice.ts';

/** After this number of failed rounds in a row people are notified. */
const ROUNDS = 3;

type Failed = {
  /** how often it was asked in vain since it last took an alert: alerts that failed once, together, are one round */
  readonly rounds: number;
  readonly notices: readonly Noticed[];
};

/** Tracks the health of one sink. Its notices have to be reported. */
export type SinkHealth = {
  /** Repeats its notices until `reported` is called. */
  readonly failed: (eventId: string, why: string) => Failed;
  /** a permanent refusal, or a delivery that took too long, is reported at once */
  readonly refused: (eventId: string, why: string) => readonly Noticed[];
  readonly reported: () => void;
  readonly succeeded: () => readonly Noticed[];
};

/** What was reported before a restart is unknown: the first success reports that the sink works. */
export function sinkHealth(sink: string): SinkHealth {
  const about = { agentId: null, taskId: null, labels: { sink }, of: sink };
  const failures = new Map<string, number>();
  let known: 'nothing' | 'failing' | 'well' = 'nothing';
  let rounds = 0;
  const failing = (title: string, why: string): readonly Noticed[] => [
    raise(SINK_FAILING, about, { severity: 'critical', title, text: why }),
  ];
  return {
    failed: (eventId, why) => {
      const ofThis = (failures.get(eventId) ?? 0) + 1;
      failures.set(eventId, ofThis);
      rounds = Math.max(rounds, ofThis);
      const isReportable = rounds >= ROUNDS && known !== 'failing';
      return {
        rounds,
        notices: isReportable ? failing(`alerts do not reach people by ${sink}: they wait for it`, why) : [],
      };
    },
    refused: (eventId, why) => {
      failures.delete(eventId);
      return failing(`${sink} has refused an alert: it is a dead letter (onex.dlq.alerting.dead-letter.v1)`, why);
    },
    reported: () => {
      known = 'failing';
    },
    succeeded: () => {
      failures.clear();
      rounds = 0;
      if (known === 'well') return [];
      known = 'well';
      return [resolve(SINK_FAILING, about, `${sink} takes alerts`)];
    },
  };
}
