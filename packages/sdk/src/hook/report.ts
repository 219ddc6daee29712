import type { Activity, Heartbeat } from '@vigil/events';
import { asksPerson, begunCall, doneCall, type Environment, failedCall } from './call.ts';
import type { HookInput } from './input.ts';

/** Fields of a heartbeat. */
export type Said = Partial<Heartbeat>;

/** What one event of Claude Code's tells of its session. */
export type Report = {
  readonly said: Said;
  /** the answer can carry a text to the agent */
  readonly takesText: boolean;
  /** the answer can refuse the call that it begins */
  readonly asks: boolean;
  /** no call is under way any more: one that has not ended was never made */
  readonly turnOver: boolean;
};

type Told = { readonly said: Said; readonly takesText?: boolean; readonly asks?: boolean; readonly turnOver?: boolean };
type Teller = (input: HookInput, at: number, env: Environment) => Told;

/** The session waits for a person, or for nothing any more. */
const WAITS: ReadonlySet<string> = new Set([
  'permission_prompt',
  'idle_prompt',
  'elicitation_dialog',
  'elicitation_url_dialog',
  'quota_auto_resume_stale',
  'quota_auto_resume_disabled',
]);
const GOES_ON: ReadonlySet<string> = new Set([
  'elicitation_complete',
  'elicitation_response',
  'quota_auto_resume_fired',
]);
const LIMITS: ReadonlySet<string> = new Set(['rate_limit', 'overloaded']);
/** The process goes on with another session. */
const SWITCHES: ReadonlySet<string> = new Set(['clear', 'resume']);

/** Early versions name no type: they notify of nothing but questions. */
const notified = (type: string | null): Activity | null => {
  if (type === null || WAITS.has(type)) return 'awaiting_input';
  return GOES_ON.has(type) ? 'working' : null;
};

const has = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
/** Something of its own will wake it up again. */
const willWake = (input: HookInput): boolean =>
  has(input.field('background_tasks')) || has(input.field('session_crons'));

const working = { activity: 'working', phase: 'working' } as const;

const failure = (error: string, at: number): Said =>
  LIMITS.has(error)
    ? { activity: 'rate_limited', rate_limit: { retry_at: null } }
    : {
        activity: 'awaiting_input',
        errors: [{ at, count: 1, error_class: error.slice(0, 200), hash: null, message: null }],
      };

const tellers: Readonly<Record<string, Teller>> = {
  SessionStart: (input, _at, env) => {
    if (input.text('source') === 'compact') return { said: { phase: 'working' }, takesText: true };
    const activity = env.VIGIL_TASK_ID ? 'starting' : 'idle';
    return { said: { activity, phase: 'session' }, takesText: true, turnOver: true };
  },
  UserPromptSubmit: () => ({ said: working, takesText: true, turnOver: true }),
  PreToolUse: (input, at, env) => {
    const call = begunCall(input, at, env);
    const activity = asksPerson(call.tool) ? 'awaiting_input' : 'working';
    return { said: { ...working, activity, tool_calls: [call] }, asks: true };
  },
  PostToolUse: (input, at) => ({ said: { ...working, tool_calls: [doneCall(input, at)] }, takesText: true }),
  PostToolUseFailure: (input, at) => ({ said: { ...working, tool_calls: [failedCall(input, at)] }, takesText: true }),
  Notification: (input) => {
    const activity = notified(input.text('notification_type'));
    return { said: activity === null ? {} : { activity } };
  },
  Stop: (input) => ({
    said: { activity: willWake(input) ? 'idle' : 'awaiting_input' },
    // What has made it go on once does not do so for ever.
    takesText: input.field('stop_hook_active') !== true,
    turnOver: true,
  }),
  StopFailure: (input, at) => ({ said: failure(input.text('error') ?? 'unknown', at), turnOver: true }),
  SubagentStop: () => ({ said: {} }),
  PreCompact: () => ({ said: { phase: 'compacting' } }),
  SessionEnd: (input) =>
    SWITCHES.has(input.text('reason') ?? '')
      ? { said: { activity: 'idle' } }
      : { said: { activity: 'exiting', exit: { code: null, signal: null, reason: 'explicit' } } },
};

/** The events that `vigil hook install` asks for, and which of them name a tool. */
export const EVENTS: readonly string[] = Object.keys(tellers);

/** A subagent's calls are its agent's work; but whether that waits for somebody, and what it is told, is not the subagent's. */
const fromSubagent = ({ said: { activity: _, phase: __, ...said }, asks = false }: Told): Report => ({
  said,
  takesText: false,
  asks,
  turnOver: false,
});

/** Null: an event that says nothing to us. `at`: now, epoch milliseconds. */
export const reportOf = (input: HookInput, at: number, env: Environment): Report | null => {
  const teller = Object.hasOwn(tellers, input.event) ? tellers[input.event] : undefined;
  if (teller === undefined) return null;
  const told = teller(input, at, env);
  if (input.text('agent_id') !== null) return fromSubagent(told);
  return { takesText: false, asks: false, turnOver: false, ...told };
};
