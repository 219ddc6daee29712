import type { Decision, HookAbilities, HookAdapter, HookPayload, HookRequest } from '../adapter.ts';
import { eventsAt, type SessionEvent, type SessionFact } from '../session/events.ts';
import { describedCall } from './described.ts';
import { at, textAt } from './payload.ts';

/** The facts in one event of a client's hooks. `now`: when the hook started, epoch milliseconds. */
export type Reader = (payload: HookPayload, now: number) => readonly SessionFact[];

export type Readers = Readonly<Record<string, Reader>>;

const eventNameOf = (payload: HookPayload): string => textAt(payload, 'hook_event_name') ?? '';

/** Events that report a sub-agent to its session; every other event with an `agent_id` is the sub-agent's own. */
const OF_SESSION: ReadonlySet<string> = new Set(['SubagentStart', 'SubagentStop']);

/** An unknown event has no facts. */
export const eventsBy =
  (readers: Readers) =>
  (payload: HookPayload, now: number): readonly SessionEvent[] => {
    const event = eventNameOf(payload);
    const reader = Object.hasOwn(readers, event) ? readers[event] : undefined;
    if (reader === undefined) return [];
    const agent = OF_SESSION.has(event) ? null : textAt(payload, 'agent_id');
    return eventsAt(now, agent, reader(payload, now));
  };

export const sessionStarted: Reader = (payload) => {
  const source = textAt(payload, 'source');
  if (source === 'resume' || source === 'clear' || source === 'compact') return [{ kind: 'session_started', source }];
  return [{ kind: 'session_started', source: 'start' }];
};

/** Reasons after which the process continues with another session. */
const CONTINUING: ReadonlySet<string> = new Set(['clear', 'resume']);

export const sessionEnded: Reader = (payload) => [
  { kind: 'session_ended', continues: CONTINUING.has(textAt(payload, 'reason') ?? '') },
];

/** The events that are the same in Claude Code and Codex. */
export const commonReaders: Readers = {
  SessionStart: sessionStarted,
  UserPromptSubmit: () => [{ kind: 'turn_started' }],
  SubagentStart: (payload) => {
    const id = textAt(payload, 'agent_id');
    return id === null ? [] : [{ kind: 'subagent_started', id, type: textAt(payload, 'agent_type') }];
  },
  SubagentStop: (payload) => {
    const id = textAt(payload, 'agent_id');
    return id === null ? [] : [{ kind: 'subagent_ended', id }];
  },
  PreCompact: () => [{ kind: 'phase_changed', phase: 'compacting' }],
  PostCompact: () => [{ kind: 'phase_changed', phase: 'working' }],
  SessionEnd: sessionEnded,
};

/** The answers that a client accepts from its hooks, by event. */
type Answers = {
  /** after these, `additionalContext` reaches the model */
  readonly takesContext: ReadonlySet<string>;
  readonly turnEnd: string;
  readonly callStart: string;
  /** refuses the call that the event begins */
  readonly refusal: (event: string, reason: string) => object;
  /** the `decision` with which a turn that would have ended continues */
  readonly continuation: 'block' | 'deny';
};

/** A text is for the session's own agent, so a sub-agent's event gets none. A turn is continued at most once. */
const abilitiesIn = (payload: HookPayload, { takesContext, turnEnd, callStart }: Answers): HookAbilities => {
  const event = eventNameOf(payload);
  const isOwn = textAt(payload, 'agent_id') === null;
  const continuesTurn = isOwn && event === turnEnd && at(payload, 'stop_hook_active') !== true;
  return {
    takesText: continuesTurn || (isOwn && takesContext.has(event)),
    continuesTurn,
    canRefuse: event === callStart,
  };
};

const answerTo = (
  payload: HookPayload,
  texts: readonly string[],
  refusal: string | null,
  answers: Answers,
): object | null => {
  const event = eventNameOf(payload);
  const { takesText, continuesTurn, canRefuse } = abilitiesIn(payload, answers);
  if (refusal !== null && canRefuse) return answers.refusal(event, refusal);
  if (texts.length === 0 || !takesText) return null;
  const joined = texts.join('\n\n');
  if (continuesTurn) return { decision: answers.continuation, reason: joined };
  return { hookSpecificOutput: { hookEventName: event, additionalContext: joined } };
};

/** Hooks with Claude Code's fields, which Codex and Gemini CLI also use, with their own events. */
export const hooksBy = (
  readers: Readers,
  answers: Answers,
): Pick<HookAdapter, 'events' | 'sessionOf' | 'abilities' | 'eventsOf' | 'answer'> => ({
  events: Object.keys(readers),
  sessionOf: (payload) => textAt(payload, 'session_id'),
  abilities: (payload) => abilitiesIn(payload, answers),
  eventsOf: eventsBy(readers),
  answer: (payload, texts, refusal) => {
    const answer = answerTo(payload, texts, refusal, answers);
    return answer === null ? null : JSON.stringify(answer);
  },
});

export const PERMISSION_CHOICES: HookRequest['choices'] = [
  { name: 'allow', label: 'Allow' },
  { name: 'deny', label: 'Deny' },
];

/** The permission for a call, as Claude Code and Codex request it. */
export const permissionOf = (payload: HookPayload): HookRequest | null => {
  if (eventNameOf(payload) !== 'PermissionRequest') return null;
  const tool = textAt(payload, 'tool_name');
  const text = describedCall(tool ?? 'a tool', at(payload, 'tool_input'));
  return { kind: 'permission', tool, text, choices: PERMISSION_CHOICES, questions: [] };
};

/** The decision on a permission, as Claude Code and Codex read it. */
export const permissionDecision = ({ choice, why }: Decision): object => {
  const decision = choice === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: why };
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
};

/** The answer that refuses a call in Claude Code and Codex. */
export const deniedPermission = (event: string, reason: string): object => ({
  hookSpecificOutput: { hookEventName: event, permissionDecision: 'deny', permissionDecisionReason: reason },
});
