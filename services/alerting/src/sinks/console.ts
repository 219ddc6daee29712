import { utcTime } from '@vigil/policy';
import { CONSOLE, unknownOf } from '../alert/routing.ts';
import { oneLine, plain, withItem } from '../delivery/message.ts';
import { type AlertEvent, deliveringTo, type Sink } from '../delivery/sink.ts';

const LONGEST_TEXT = 20_000;

/** One line a message, for people. `write` gets it with its line end; `configured`: the channels that there are. */
export const consoleSink = (write: (line: string) => void, configured: readonly string[]): Sink =>
  deliveringTo(CONSOLE, async (alert) => write(`${lineOf(alert, configured)}\n`));

/** `ALERT raised [critical] recovery_failed OMN-1234: title (text) options: retry | abandon until 2026-…` */
export const lineOf = ({ type, payload }: AlertEvent, configured: readonly string[]): string => {
  const { severity, route, taskId, agentId, title, text } = payload;
  const what = { ALERT_RAISED: 'raised', ALERT_UPDATED: 'updated', ALERT_RESOLVED: 'resolved' }[type];
  const shown = withItem(oneLine(text), payload, LONGEST_TEXT);
  const requested = 'options' in payload ? requestedIn(payload) : '';
  const missing = 'channels' in payload ? missingIn(payload.channels, configured) : '';
  return plain(
    `ALERT ${what} [${severity}] ${route} ${taskId ?? agentId ?? 'fleet'}: ${title} (${shown})${requested}${missing}`,
  );
};

type Requested = { readonly options: readonly string[]; readonly deadlineAt: number | null };

const requestedIn = ({ options, deadlineAt }: Requested): string =>
  (options.length > 0 ? ` options: ${options.join(' | ')}` : '') +
  (deadlineAt === null ? '' : ` until ${utcTime(deadlineAt)}`);

const missingIn = (channels: readonly string[], configured: readonly string[]): string => {
  const unknown = unknownOf(channels, { configured });
  if (unknown.length === 0) return '';
  const names = unknown.join(', ');
  return ` [requested by ${names}, sent here instead: name ${names} under channels in VIGIL_ALERTS_FILE]`;
};
