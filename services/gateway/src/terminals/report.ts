import { type Draft, parsePayload, shown, Topic, Unfit } from '@vigil/events';
import { Problem } from '../http/problem.ts';

/** What a runtime publishes of a terminal. */
export type TerminalDraft = Draft<typeof Topic.agentTerminal>;

/** One report, `{ type, payload }` as parsed JSON. Throws Problem. */
export const readTerminal = (body: unknown): TerminalDraft => {
  const { type, payload } = (body ?? {}) as { type?: unknown; payload?: unknown };
  try {
    switch (type) {
      case 'TERMINAL_CHANGED': {
        const change = parsePayload(Topic.agentTerminal, type, payload);
        return { topic: Topic.agentTerminal, type, key: change.agentId, payload: change };
      }
      case 'TERMINAL_CLOSED': {
        const closed = parsePayload(Topic.agentTerminal, type, payload);
        return { topic: Topic.agentTerminal, type, key: closed.agentId, payload: closed };
      }
    }
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    throw new Problem(400, error.reason, error.message, { field: error.field });
  }
  const given = type === undefined ? 'missing' : shown(type);
  const detail = `type is ${given}: use TERMINAL_CHANGED or TERMINAL_CLOSED`;
  throw new Problem(400, 'bad_field', detail, { field: 'type' });
};
