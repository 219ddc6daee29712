import type { History } from '../history/history.ts';
import { after, silent, sinceOf } from './absence.ts';
import { type AnySignal, absentFor, absentFrom, signal, spelled } from './signal.ts';

/** The client reports an open turn, no call is in flight, and the model does not answer: no event, no call and no use of tokens. */
export const noModelAnswer: AnySignal = signal(after, {
  axis: 'absence',
  awaits: ['turn', 'call', 'tokens'],
  by: 'turn',
  resetOnCallEnd: true,
  firesFrom: (h, limits, at) => absentFrom(movedAt(h), limits.after, at),
  evidence: (h, limits, at) => {
    if (h.turn !== null && !h.turn.open)
      return { value: null, limit: limits.after, words: 'no turn is open', hard: false };
    const calls = h.calls.open.length === 0 ? ', none in flight' : `, ${h.calls.open.length} in flight`;
    const missing = `no answer of the model, no event of its client and no call${calls},`;
    return silent(missing, absentFor(movedAt(h), at), limits.after);
  },
  finding: (h, _, at) =>
    `Your turn is open and nothing has happened in it for ${spelled(absentFor(movedAt(h), at))}${sinceOf(h, movedAt(h))}: no answer and no call.`,
  advice: 'Continue with the next step of your task. If you wait for something, say what it is.',
});

/** Mark of the last sign of the client; null: no turn is open, or a call is in flight. */
export function movedAt({ turn, calls, tokens, lastReceipt }: History): number | null {
  if (turn === null || !turn.open || calls.open.length > 0) return null;
  const used = tokens.count > 0 ? (tokens.unusedSince ?? lastReceipt.watched) : 0;
  return Math.max(turn.moved, calls.last ?? 0, used);
}
