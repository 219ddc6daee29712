import { SINK_FAILING } from '../alert/routing.ts';
import { type Noticed, raise, resolve } from '../notices/notice.ts';

/** So many rounds of failures in a row are no chance: people hear of it. */
const ROUNDS = 3;

type Failed = {
  /** how often it was asked in vain since it last took an alert: alerts that failed once, together, are one round */
  readonly rounds: number;
  readonly notices: readonly Noticed[];
};

/** How one sink does. What it gives is to be told. */
export type SinkHealth = {
  /** Its notices come again until `told` says that people know. */
  readonly failed: (eventId: string, why: string) => Failed;
  /** what it refuses for good, or has not taken for too long, is told at once */
  readonly refused: (eventId: string, why: string) => readonly Noticed[];
  readonly told: () => void;
  readonly succeeded: () => readonly Noticed[];
};

/** What was told of it before a restart is not known: its first success says that it does well. */
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
      const isNews = rounds >= ROUNDS && known !== 'failing';
      return { rounds, notices: isNews ? failing(`nobody hears of alerts by ${sink}: they wait for it`, why) : [] };
    },
    refused: (eventId, why) => {
      failures.delete(eventId);
      return failing(`${sink} has refused an alert: it is a dead letter (onex.dlq.alerting.dead-letter.v1)`, why);
    },
    told: () => {
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
