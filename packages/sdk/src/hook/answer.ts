/** A call that is not to be made now. `nextAttemptAt` in epoch milliseconds; null: when a trial that is under way has ended. */
export type Denial = { readonly breaker: string; readonly failures: number; readonly nextAttemptAt: number | null };

export type Text = { readonly orderId: string; readonly text: string };

const context = (event: string, texts: readonly Text[]): object => {
  const additionalContext = texts.map(({ text }) => text).join('\n\n');
  return { hookSpecificOutput: { hookEventName: event, additionalContext } };
};

const when = (nextAttemptAt: number | null, now: number): string => {
  if (nextAttemptAt === null) return 'the next attempt may be made when the trial call that is under way has ended';
  const seconds = Math.max(1, Math.ceil((nextAttemptAt - now) / 1000));
  return `the next attempt may be made at ${new Date(nextAttemptAt).toISOString()}, in ${seconds} s`;
};

export const denialReason = ({ breaker, failures, nextAttemptAt }: Denial, now: number): string =>
  `Vigil: the circuit breaker ${breaker} is open after ${failures} failed calls in a row; ${when(nextAttemptAt, now)}. Find out why they fail before you go on.`;

const deny = (denial: Denial, now: number): object => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: denialReason(denial, now),
  },
});

/** What goes to stdout, in the format of the event; null: nothing. */
export const answerFor = (event: string, texts: readonly Text[], denial: Denial | null, now: number): string | null => {
  if (denial !== null && event === 'PreToolUse') return JSON.stringify(deny(denial, now));
  if (texts.length === 0) return null;
  if (event !== 'Stop') return JSON.stringify(context(event, texts));
  // Every version reads this one, and the session goes on with what it says.
  return JSON.stringify({ decision: 'block', reason: texts.map(({ text }) => text).join('\n\n') });
};
