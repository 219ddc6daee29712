import type { Sink, Telling } from './sink.ts';

/** One line a message, for people. `write` gets it with its line end. */
export const consoleSink = (write: (line: string) => void): Sink => ({
  name: 'console',
  tell: async (telling) => write(`${lineOf(telling)}\n`),
});

/** `ALERT raised [critical] recovery_failed OMN-1234: title (text) options: retry | abandon until 2026-…` */
export function lineOf({ type, payload }: Telling): string {
  const { severity, route, taskId, agentId, title, text } = payload;
  const what = { ALERT_RAISED: 'raised', ALERT_UPDATED: 'updated', ALERT_RESOLVED: 'resolved' }[type];
  const options = 'options' in payload && payload.options.length > 0 ? ` options: ${payload.options.join(' | ')}` : '';
  const until =
    'deadlineAt' in payload && payload.deadlineAt !== null
      ? ` until ${new Date(payload.deadlineAt).toISOString()}`
      : '';
  return plain(
    `ALERT ${what} [${severity}] ${route} ${taskId ?? agentId ?? 'fleet'}: ${title} (${text})${options}${until}`,
  );
}

/** What agents wrote must not steer the terminal that shows it, nor turn its text around. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ');
