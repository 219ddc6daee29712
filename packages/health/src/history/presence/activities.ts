import type { Activity } from '@vigil/events';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';
import { drawsScreen } from './outputs.ts';
import type { Turn } from './turn.ts';
import { isQuestion, type Wait } from './wait.ts';

export type Activities = {
  /** null: never reported */
  readonly value: Activity | null;
  /** on `now`'s axis; `lag`: how far `watched` was behind it then */
  readonly since: number;
  readonly lag: number;
  /** mark of the agent's own last sign: a call, output, or a heartbeat of its own */
  readonly own: number | null;
  readonly sentHeartbeat: number | null;
  /**
   * marks at which the agent last left work, or a rest: what it does next may be new work. A question to a person is
   * not a rest
   */
  readonly left: Readonly<Partial<Record<Activity, number>>>;
  /** mark at which it last left an idle prompt; null: never */
  readonly prompted: number | null;
  /** whether its runtime reports that it is paused; absent: it is not, or it reports the pause itself */
  readonly stopped?: true;
  /** the start of its first hand-off of the present task, on `now`'s axis, and its mark; absent: none */
  readonly handOff?: { readonly at: number; readonly mark: number };
};

const RECORDED: ReadonlySet<Activity | null> = new Set<Activity>([
  'working',
  'idle',
  'finished',
  'exiting',
  'awaiting_input',
  'handing_off',
]);

export const noActivities = ({ now, watched }: Receipt): Activities => ({
  value: null,
  since: now,
  lag: now - watched,
  own: null,
  sentHeartbeat: null,
  left: {},
  prompted: null,
});

/**
 * `sentOutput`: the previously reported output, as sent; `turn`: the turn after this heartbeat; `takesTask`: whether the
 * task has changed; `wait`: the wait before this heartbeat.
 */
type Beside = {
  readonly sentOutput: number | null;
  readonly turn: Turn;
  readonly takesTask: boolean;
  readonly wait: Wait;
};

export const activitiesAfter = (
  before: Activities,
  { sentOutput, turn, takesTask, wait }: Beside,
  heartbeat: Heartbeat,
  receipt: Receipt,
): Activities => {
  const value = valueAfter(before, heartbeat);
  const changed = value !== before.value;
  const leaves = changed && RECORDED.has(before.value) && !(wait !== null && isQuestion(wait));
  const handOff = handOffAfter(before, value, takesTask, receipt);
  return {
    value,
    since: changed ? receipt.now : before.since,
    lag: changed ? receipt.now - receipt.watched : before.lag,
    own: ownSign(before, sentOutput, turn, heartbeat, receipt),
    sentHeartbeat: heartbeat.agent_heartbeat_at ?? before.sentHeartbeat,
    left: leaves ? { ...before.left, [before.value ?? '']: receipt.watched } : before.left,
    prompted: changed && wait?.kind === 'prompt' ? receipt.watched : before.prompted,
    ...(isStopped(before, value, heartbeat) && { stopped: true as const }),
    ...(handOff !== undefined && { handOff }),
  };
};

/** A runtime reports its pause in each heartbeat, so the first one without it ends the pause. */
const valueAfter = ({ value, stopped }: Activities, { activity, reporter }: Heartbeat): Activity | null => {
  if (activity !== null && activity !== 'UNKNOWN') return activity;
  return stopped === true && reporter === 'runtime' ? null : value;
};

/** A runtime that reports a pause has stopped the agent. Another report of the same pause does not take that back. */
const isStopped = (before: Activities, value: Activity | null, { activity, reporter }: Heartbeat): boolean =>
  value === 'paused' && (before.stopped === true || (activity === 'paused' && reporter === 'runtime'));

const handOffAfter = (
  { handOff }: Activities,
  value: Activity | null,
  takesTask: boolean,
  { now, watched }: Receipt,
): Activities['handOff'] => {
  const known = takesTask ? undefined : handOff;
  return value === 'handing_off' ? (known ?? { at: now, mark: watched }) : known;
};

/**
 * Whether a program draws a screen and has reported its start, but no turn. It may be waiting for a person, and its
 * drawing does not show that.
 */
const mayStandAtPrompt = (turn: Turn, heartbeat: Heartbeat): boolean =>
  turn === null && drawsScreen(heartbeat) && heartbeat.activity === 'starting';

/**
 * A runtime's heartbeat is presence, not activity. It may report the time of the agent's last own heartbeat, output or
 * call.
 */
const ownSign = (
  before: Activities,
  sentOutput: number | null,
  turn: Turn,
  heartbeat: Heartbeat,
  receipt: Receipt,
): number | null => {
  if (heartbeat.reporter !== 'runtime') return receipt.watched;
  if (mayStandAtPrompt(turn, heartbeat)) return null;
  const isUnknown = drawsScreen(heartbeat) && heartbeat.agent_heartbeat_at === null;
  let own = isUnknown ? null : (before.own ?? (heartbeat.output === null ? null : receipt.watched));
  if (turn !== null) own = Math.max(own ?? 0, turn.moved);
  const sign = (sent: number | null, known: number | null) => {
    if (sent !== null && (known === null || sent > known)) own = Math.max(own ?? 0, instant(receipt, sent).watched);
  };
  sign(heartbeat.agent_heartbeat_at, before.sentHeartbeat);
  sign(heartbeat.output?.last_output_at ?? null, sentOutput);
  for (const call of heartbeat.tool_calls) sign(call.ended_at ?? call.started_at ?? receipt.stamp, null);
  return own;
};
