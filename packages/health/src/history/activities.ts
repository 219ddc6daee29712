import type { Activity } from '@vigil/events';
import { type Beat, type Fold, instant, type Receipt } from './moment.ts';

export type Activities = {
  /** null: never reported */
  readonly value: Activity | null;
  /** on `now`'s axis */
  readonly since: number;
  /** mark of the agent's own last sign: a call, output, or a beat of its own */
  readonly own: number | null;
  readonly sentBeat: number | null;
  readonly sentOutput: number | null;
  /** marks at which it left an activity; absence may count from there */
  readonly left: Readonly<Partial<Record<Activity, number>>>;
};

export const activities: Fold<Activities> = {
  initial: ({ now }) => ({ value: null, since: now, own: null, sentBeat: null, sentOutput: null, left: {} }),
  observe: (before, beat, receipt) => {
    const value = beat.activity === null || beat.activity === 'UNKNOWN' ? before.value : beat.activity;
    const changed = value !== before.value;
    return {
      value,
      since: changed ? receipt.now : before.since,
      own: ownSign(before, beat, receipt),
      sentBeat: beat.agent_beat_at ?? before.sentBeat,
      sentOutput: beat.output?.last_output_at ?? before.sentOutput,
      left: changed && before.value ? { ...before.left, [before.value]: receipt.watched } : before.left,
    };
  },
  largestBytes: 350,
};

/** A runtime's beat is presence, not activity; it may say when the agent's own last one was, or its last output or call. */
function ownSign(before: Activities, beat: Beat, receipt: Receipt): number | null {
  if (beat.reporter !== 'runtime') return receipt.watched;
  let own = before.own ?? (beat.output === null ? null : receipt.watched);
  const sign = (sent: number | null, known: number | null) => {
    if (sent !== null && (known === null || sent > known)) own = Math.max(own ?? 0, instant(receipt, sent).watched);
  };
  sign(beat.agent_beat_at, before.sentBeat);
  sign(beat.output?.last_output_at ?? null, before.sentOutput);
  for (const call of beat.tool_calls) sign(call.ended_at ?? call.started_at ?? receipt.stamp, null);
  return own;
}
