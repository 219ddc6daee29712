import type { StreamReader } from '../adapter.ts';
import { eventsAt, type SessionFact } from '../session/events.ts';
import { type Fields, instantAt, parseLine, textAt } from './payload.ts';

/** What an entry of a stream or a file reports. */
export type Step<State> = { readonly state: State; readonly facts: readonly SessionFact[] };

/** A stream whose entries are about the session's own agent. `idField`: the name of the session's id; `when`: epoch milliseconds */
export const streamBy = <State>(
  initial: State,
  idField: string,
  stepOf: (state: State, entry: Fields, when: number) => Step<State>,
): StreamReader<State> => ({
  initial,
  read: (state, line, now) => {
    const entry = parseLine(line);
    if (entry === null) return { state, events: [], sessionId: null };
    const when = instantAt(entry, 'timestamp') ?? now;
    const step = stepOf(state, entry, when);
    return { state: step.state, events: eventsAt(when, null, step.facts), sessionId: textAt(entry, idField) };
  },
});
