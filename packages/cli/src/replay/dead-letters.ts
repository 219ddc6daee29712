import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue } from '@vigil/events';
import {
  type Log,
  type ReplayedLetter,
  readDeadLetters,
  refusalOf,
  replayDeadLetters,
  type StoredLetter,
} from '@vigil/stream';
import { directSettings } from '../config.ts';
import { CannotProceed } from '../errors.ts';
import { withLog } from '../kafka.ts';
import { clockTime, type View } from '../render/view.ts';
import { show, untilStopped } from '../terminal.ts';

/** Times in epoch milliseconds; `rate`: records a second. */
type Options = {
  readonly service?: string;
  readonly topic?: string;
  readonly reason?: string;
  readonly key?: string;
  readonly since?: number;
  readonly until?: number;
  readonly rate: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

/** A dead letter without its bytes. `refusal`: why it was not replayed; null if it was. */
type Row = {
  readonly id: string;
  readonly service: string;
  readonly topic: string;
  readonly key: string | null;
  readonly reason: string;
  readonly failed_at: number;
  readonly refusal: string | null;
};

/** Whether a dead letter has one of the ids, if there are any, and is within the filters. */
export const isWanted =
  (ids: readonly string[], { service, topic, reason, key, since = 0, until = Number.POSITIVE_INFINITY }: Options) =>
  (letter: StoredLetter): boolean =>
    (ids.length === 0 || ids.includes(letter.id)) &&
    (service === undefined || letter.service === service) &&
    (topic === undefined || letter.original.topic === topic) &&
    (reason === undefined || letter.reason === reason) &&
    (key === undefined || letter.original.key === key) &&
    since <= letter.failedAt &&
    letter.failedAt <= until;

/** Throws CannotProceed if no service of this name has dead letters. */
export const checkService = (service: string | undefined): void => {
  const known = Object.entries(catalogue).flatMap(([topic, { kind }]) => (kind === 'dlq' ? [topic.split('.')[2]] : []));
  if (service === undefined || known.includes(service)) return;
  throw new CannotProceed(`--service ${JSON.stringify(service)}: no such service; give one of ${known.join(', ')}`);
};

/** Writes the records of dead letters to their topics again. Throws CannotProceed. */
export const replayLetters = async (ids: readonly string[], options: Options): Promise<void> => {
  const { rate, dryRun = false, json } = options;
  checkService(options.service);
  const wanted = isWanted(ids, options);
  const signal = untilStopped();
  const done: ReplayedLetter[] = [];
  const pause = async () => void (await sleep(1000 / rate, undefined, { signal }).catch(() => undefined));
  const work = dryRun
    ? async (log: Log) => {
        for (const letter of (await readDeadLetters(log, signal)).filter(wanted))
          done.push({ letter, refusal: await refusalOf(log, letter) });
      }
    : async (log: Log) => replayDeadLetters(log, { wanted, pause, onEach: (one) => done.push(one), signal });
  let stopped = false;
  try {
    const failure = dryRun ? 'the dead letters cannot be read' : 'the dead letters are not replayed';
    await withLog(directSettings(process.env), work, { writes: [], failure });
  } catch (error) {
    // The records that are already written stay, so they are shown.
    if (!signal.aborted) throw error;
    stopped = true;
  }
  const missing = ids.filter((id) => !done.some(({ letter }) => letter.id === id));
  if (missing.length > 0 && !stopped)
    throw new CannotProceed(`unknown dead letter: ${missing.join(', ')}; list them with \`vigil dlq list\``);
  const rows = done.map(rowOf);
  show(json, { dry_run: dryRun, stopped, letters: rows }, ({ letters }, view) =>
    replayedLines(view, letters, dryRun, stopped),
  );
};

const rowOf = ({ letter, refusal }: ReplayedLetter): Row => ({
  id: letter.id,
  service: letter.service,
  topic: letter.original.topic,
  key: letter.original.key,
  reason: letter.reason,
  failed_at: letter.failedAt,
  refusal,
});

/** Dead letters that are listed; the others are counted. */
const NAMED = 50;

/** Each dead letter with its outcome, then the counts. */
export const replayedLines = (view: View, rows: readonly Row[], dryRun: boolean, stopped: boolean): string[] => {
  const refused = rows.filter(({ refusal }) => refusal !== null).length;
  const written = rows.length - refused;
  const lines = rows.slice(0, NAMED).map(({ id, key, topic, reason, failed_at, refusal }) => {
    const outcome = refusal === null ? (dryRun ? 'would be written' : 'written') : `refused: ${refusal}`;
    return `${clockTime(view, failed_at)}  ${id}  ${key ?? '-'} of ${topic} (${reason}): ${outcome}`;
  });
  return [
    ...lines,
    ...(rows.length > NAMED ? [`and ${rows.length - NAMED} more`] : []),
    rows.length === 0
      ? 'No dead letter is within these filters.'
      : `${written} ${dryRun ? 'would be written to their topics' : 'written to their topics'}, ${refused} refused.`,
    ...(stopped ? ['Stopped. Start it again to continue: none is written twice.'] : []),
  ];
};
