import type { StreamReader } from '../adapter.ts';
import { callEnded, callStarted, eventsAt, type SessionFact } from '../session/events.ts';
import { type CallEnd, type ClientCall, closed, endOfOpened, type OpenCalls, opened, openedCall } from './calls.ts';
import { type Fields, instantAt, ownOf, parseLine, textAt } from './payload.ts';

/** The facts of an entry of a stream or a file. */
export type Step<State> = { readonly state: State; readonly facts: readonly SessionFact[] };

type WithCalls = { readonly calls: OpenCalls };

/** Starts a call. */
export const beginCall = <State extends WithCalls>(state: State, call: ClientCall, when: number): Step<State> => {
  const one = openedCall(call, when);
  return { state: { ...state, calls: opened(state.calls, one) }, facts: [callStarted(one.call, null, null)] };
};

/** Ends the call with this id, if it is open. */
export const endCall = <State extends WithCalls>(
  state: State,
  id: string,
  endOf: (tool: string) => CallEnd,
  when: number,
): Step<State> => {
  const open = ownOf(state.calls, id);
  if (open === undefined) return { state, facts: [] };
  const facts = [callEnded(endOfOpened(open, endOf(open.call.tool), when))];
  return { state: { ...state, calls: closed(state.calls, id) }, facts };
};

/**
 * A stream whose entries concern the session's own agent. `first`: the type of its first entry; `idField`: the name of
 * the session's id there; `when`: epoch milliseconds
 */
export const streamBy = <State>(
  initial: State,
  { first, idField }: { readonly first: string; readonly idField: string },
  stepOf: (state: State, entry: Fields, when: number) => Step<State>,
): StreamReader<State> => ({
  isOf: (entry) => textAt(entry, 'type') === first && textAt(entry, idField) !== null,
  initial,
  read: (state, line, now) => {
    const entry = parseLine(line);
    if (entry === null) return { state, events: [], sessionId: null };
    const when = instantAt(entry, 'timestamp') ?? now;
    const step = stepOf(state, entry, when);
    return { state: step.state, events: eventsAt(when, null, step.facts), sessionId: textAt(entry, idField) };
  },
});
