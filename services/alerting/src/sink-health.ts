import { type Noticed, raise, resolve } from './notice.ts';
import { SINK_FAILING } from './routing.ts';

/** So many failures in a row are no chance: people hear of it. */
const FAILURES = 3;

/** How one sink does. What it gives is to be told. */
export type SinkHealth = {
  /** `failures` in a row, this one included */
  readonly failed: (why: string) => { readonly failures: number; readonly notices: readonly Noticed[] };
  /** what it refuses for good is told at once */
  readonly refused: (why: string) => readonly Noticed[];
  readonly succeeded: () => readonly Noticed[];
};

/** What was told of it before a restart is not known: its first success says that it does well. */
export function sinkHealth(sink: string): SinkHealth {
  const about = { agentId: null, taskId: null, labels: { sink }, of: sink };
  let failures = 0;
  let isTold = true;
  const failing = (title: string, why: string): readonly Noticed[] => {
    isTold = true;
    return [raise(SINK_FAILING, about, { severity: 'critical', title, text: why })];
  };
  return {
    failed: (why) => {
      failures += 1;
      const notices = failures === FAILURES ? failing(`nobody hears of alerts by ${sink}: they wait for it`, why) : [];
      return { failures, notices };
    },
    refused: (why) =>
      failing(`${sink} has refused an alert: it is a dead letter (onex.dlq.alerting.dead-letter.v1)`, why),
    succeeded: () => {
      failures = 0;
      if (!isTold) return [];
      isTold = false;
      return [resolve(SINK_FAILING, about, `${sink} takes alerts`)];
    },
  };
}
