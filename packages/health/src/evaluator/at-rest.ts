import type { AtRest } from '@vigil/stream';
import { NO_OUTCOMES, type Outcomes } from '../history/calls/last-calls.ts';
import { limitedUntil } from '../history/calls/rate-limits.ts';
import { sharesOf } from '../history/calls/reported-errors.ts';
import type { History } from '../history/history.ts';
import type { Activities } from '../history/presence/activities.ts';
import { isQuestion } from '../history/presence/wait.ts';
import { type Interval, NO_WAITS, WAIT, type Waits, withPresent } from '../history/presence/waits.ts';
import { type AgentState, type KnownAgent, USUAL } from './state.ts';

type Unseen = Extract<AgentState, { kind: 'unseen' }>;

type HistoryOfEighteen = Omit<History, 'waits' | 'activity'> & {
  readonly activity: Omit<Activities, 'prompted'>;
  readonly asked: number | null;
};
type KnownOfEighteen = Omit<KnownAgent, 'history'> & { readonly history: HistoryOfEighteen };
type ShapeEighteen = Unseen | KnownOfEighteen;

type HistoryOfSeventeen = Omit<HistoryOfEighteen, 'reportedErrors'> & {
  readonly reportedErrors: { readonly errors: number; readonly outcomes: Outcomes };
};
type KnownOfSeventeen = Omit<KnownAgent, 'history'> & { readonly history: HistoryOfSeventeen };
type ShapeSeventeen = Unseen | KnownOfSeventeen;

const { waits: _waits, ...USUAL_HISTORY } = USUAL.history;
const { prompted: _prompted, ...USUAL_ACTIVITY } = USUAL.history.activity;
const USUAL_OF_EIGHTEEN: KnownOfEighteen = {
  ...USUAL,
  history: { ...USUAL_HISTORY, activity: USUAL_ACTIVITY, asked: null },
};
const USUAL_OF_SEVENTEEN: KnownOfSeventeen = {
  ...USUAL_OF_EIGHTEEN,
  history: { ...USUAL_OF_EIGHTEEN.history, reportedErrors: { errors: 0, outcomes: NO_OUTCOMES } },
};

/**
 * The stored form of states, also for readers of the snapshot. Add an upgrade for each change of the state or of the
 * usual state. Shape 18 counts reported errors by heartbeat; shape 19 has the waits of an agent.
 */
export const AT_REST: AtRest<AgentState> = {
  oldest: 17,
  upgrades: [
    { usual: USUAL_OF_SEVENTEEN, to: (state) => withErrorShares(state as ShapeSeventeen) },
    { usual: USUAL_OF_EIGHTEEN, to: (state) => withWaits(state as ShapeEighteen) },
  ],
  usual: USUAL,
};

const withErrorShares = (state: ShapeSeventeen): ShapeEighteen => {
  if (state.kind === 'unseen') return state;
  const { history } = state;
  const { errors, outcomes } = history.reportedErrors;
  const shares = sharesOf(outcomes);
  const reportedErrors = { errors, lastCall: history.calls.sentLast, shares, at: outcomes.at };
  return { ...state, history: { ...history, reportedErrors } };
};

const withWaits = (state: ShapeEighteen): AgentState => {
  if (state.kind === 'unseen') return state;
  const { asked: _, ...history } = state.history;
  const activity = { ...history.activity, prompted: null };
  return { ...state, history: { ...history, activity, waits: waitsOf(state.history) } };
};

/** Shape 18 excused everything before the end of a wait. So each wait lasted from the start of the agent. */
const waitsOf = ({
  activity: { value, left },
  asked,
  lastReceipt,
  rateLimit,
  started,
  wait,
}: HistoryOfEighteen): Waits => {
  const now = lastReceipt.watched;
  const endOf = (activity: keyof typeof left) => (value === activity ? now : (left[activity] ?? 0));
  const stopped = Math.max(endOf('awaiting_input'), endOf('paused'));
  const limited = rateLimit === null ? 0 : rateLimit.mark + limitedUntil(rateLimit, USUAL_LIMIT_MS) - rateLimit.at;
  const ends: readonly (readonly [end: number, kind: number])[] = [
    [endOf('paused'), WAIT.paused],
    [limited, WAIT.rate_limited],
    [endOf('awaiting_input'), WAIT.awaiting_input],
    [endOf('handing_off'), WAIT.handing_off],
    [endOf('idle'), WAIT.idle],
    [stopped, WAIT.stopped],
    [wait !== null && isQuestion(wait) ? now : (asked ?? 0), WAIT.question],
  ];
  const present = ends.map(([end, kind]): Interval => [started.watched, end, kind]);
  return withPresent(NO_WAITS, present, started.watched, now);
};

const USUAL_LIMIT_MS = 60_000;
