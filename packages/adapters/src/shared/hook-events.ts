import type { HookPayload } from '../adapter.ts';
import type { SessionEvent, SessionFact } from '../session/events.ts';
import { textAt } from './payload.ts';

/** The facts in one event of a client's hooks. `now`: when the hook started, epoch milliseconds. */
export type Reader = (payload: HookPayload, now: number) => readonly SessionFact[];

export const eventNameOf = (payload: HookPayload): string => textAt(payload, 'hook_event_name') ?? '';

/** Events that report a sub-agent to its session; every other event with an `agent_id` is the sub-agent's own. */
const OF_SESSION: ReadonlySet<string> = new Set(['SubagentStart', 'SubagentStop']);

/** An unknown event has no facts. */
export const eventsBy =
  (readers: Readonly<Record<string, Reader>>) =>
  (payload: HookPayload, now: number): readonly SessionEvent[] => {
    const event = eventNameOf(payload);
    const reader = Object.hasOwn(readers, event) ? readers[event] : undefined;
    if (reader === undefined) return [];
    const agent = OF_SESSION.has(event) ? null : textAt(payload, 'agent_id');
    return reader(payload, now).map((fact) => ({ ...fact, at: now, agent }));
  };

export const subagentStarted: Reader = (payload) => {
  const id = textAt(payload, 'agent_id');
  return id === null ? [] : [{ kind: 'subagent_started', id, type: textAt(payload, 'agent_type') }];
};

export const subagentEnded: Reader = (payload) => {
  const id = textAt(payload, 'agent_id');
  return id === null ? [] : [{ kind: 'subagent_ended', id }];
};

export const sessionStarted: Reader = (payload) => {
  const source = textAt(payload, 'source');
  if (source === 'resume' || source === 'clear' || source === 'compact') return [{ kind: 'session_started', source }];
  return [{ kind: 'session_started', source: 'start' }];
};

/** After these the process continues with another session. */
const GOES_ON: ReadonlySet<string> = new Set(['clear', 'resume']);

export const sessionEnded: Reader = (payload) => [
  { kind: 'session_ended', continues: GOES_ON.has(textAt(payload, 'reason') ?? '') },
];
