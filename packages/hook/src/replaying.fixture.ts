import { adapterNamed } from '@vigil/adapters';
import { recordedSameRuns, recordedTranscripts } from '@vigil/adapters/recordings';
import type { SpoolRecord } from './spool/spool.ts';

/** A moment of a recorded session: its client writes a line into the file of the session, or starts a hook. */
export type Moment =
  | { readonly kind: 'line'; readonly at: number; readonly line: string }
  | { readonly kind: 'hook'; readonly at: number; readonly name: string; readonly record: SpoolRecord };

/** A line without a time, as the last one of Claude Code, is written right after the one before it. */
const timeOf = (line: string): number => Date.parse((JSON.parse(line) as { timestamp?: string }).timestamp ?? '');

const linesOf = (client: string, run: string, lateMs: number): readonly Moment[] => {
  let at = 0;
  return (recordedTranscripts(client).get(run) ?? []).map(({ line }) => {
    at = Math.max(at, timeOf(line) || 0);
    return { kind: 'line', at: at + lateMs, line };
  });
};

const hooksOf = (client: string, run: string, path: string): readonly Moment[] => {
  const adapter = adapterNamed(client);
  if (adapter === undefined) throw new Error(`there is no adapter ${client}`);
  const { hooks } = adapter;
  return (recordedSameRuns(client).get(run) ?? [])
    .filter(({ payload }) => hooks.events.includes(String(payload.hook_event_name)))
    .map(({ at, payload }, index) => {
      const { takesText, canRefuse, continuesTurn } = hooks.abilities(payload);
      const events = hooks.eventsOf(payload, at);
      const session = hooks.sessionOf(payload);
      const transcripts = [{ agent: null, path }];
      const id = `record-${index}`;
      const record = { id, client, session, transcripts, takesText, canRefuse, continuesTurn, events };
      return { kind: 'hook', at, name: String(payload.hook_event_name), record };
    });
};

/**
 * A recorded session in the order in which it happened, with `path` as the file of the session. `lateMs`: the lines appear in the file
 * so much later than they were written.
 */
export const momentsOf = (client: string, run: string, path: string, lateMs: number): readonly Moment[] =>
  [...linesOf(client, run, lateMs), ...hooksOf(client, run, path)].toSorted((one, other) => one.at - other.at);
