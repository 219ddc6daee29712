import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import { HISTORY_DAYS, type Progress, planRebuild, rebuild } from '@vigil/projection';
import { addressOf, BEFORE, databaseUrlFrom, REBUILT } from '@vigil/read-model';
import { type Logger, silentLogger } from '@vigil/stream';
import { type DatabaseSettings, databaseOf, directSettings, historyDaysOf } from '../config.ts';
import { CannotProceed, Refusal } from '../errors.ts';
import { withLog } from '../kafka.ts';
import { plain } from '../render/plain.ts';
import { type Json, show, untilStopped } from '../terminal.ts';

type Options = Json & { readonly yes?: boolean };

/** `rebuilt` false: it shows what a rebuild would do. `before`: the schema with the previous rows. */
export type Rebuilt = {
  readonly rebuilt: boolean;
  readonly database: string;
  readonly partitions: number;
  readonly before: string;
};

/** What a rebuild does, or what it has done. */
export const rebuiltLines = ({ rebuilt, database, partitions, before }: Rebuilt): readonly string[] =>
  rebuilt
    ? [
        `The read model of ${database} is rebuilt from ${partitions} partitions, and in use.`,
        `The previous rows are in the schema ${before} until the next rebuild.`,
      ]
    : [
        `This rebuilds the read model of ${database} from ${partitions} partitions.`,
        `- It writes new rows into the schema ${REBUILT}. All services continue, and use the present rows.`,
        '- When the new rows are as complete as the present ones, it switches to them in one transaction.',
        `- The present rows move to the schema ${before}. What that schema has now is deleted.`,
        '- Heartbeats, calls, ends and receipts older than 7 days are not in the new rows, because their topics do not have them.',
      ];

/** One line on a terminal; elsewhere a line for each change. */
const progressOn = (out: NodeJS.WriteStream): ((progress: Progress) => void) => {
  let last = '';
  return ({ complete, partitions }) => {
    const line = `${complete} of ${partitions} partitions are complete`;
    if (out.isTTY) out.write(`\r${line}\u001b[K${complete === partitions ? '\n' : ''}`);
    else if (line !== last) out.write(`${line}\n`);
    last = line;
  };
};

const warn = (about: object, text: string): void => {
  const { err } = about as { readonly err?: Error };
  process.stderr.write(`${plain(err === undefined ? text : `${text}: ${err.message}`)}\n`);
};
const logger: Logger = { ...silentLogger, warn, error: warn };

/** Throws CannotProceed. */
const urlOf = (settings: DatabaseSettings): string => {
  try {
    return databaseUrlFrom(settings);
  } catch (cause) {
    throw new CannotProceed((cause as Error).message, { cause });
  }
};

/**
 * Builds the rows of the read model again and switches to them; without `yes` it shows what that does. Throws
 * CannotProceed, and Refusal without `yes` or if it is stopped.
 */
export const rebuildReadModel = async ({ yes = false, json }: Options): Promise<void> => {
  const url = urlOf(databaseOf(process.env));
  const historyDays = historyDaysOf(process.env, HISTORY_DAYS);
  const signal = untilStopped();
  const onProgress = progressOn(process.stderr);
  const wait = () => sleep(1000, undefined, { signal });
  const use = { writes: [Topic.dlqProjector], failure: 'the read model is not rebuilt' };
  const { partitions } = await withLog(
    directSettings(process.env),
    (log) => (yes ? rebuild(log, url, { logger, historyDays, onProgress, wait }) : planRebuild(log, url)),
    use,
  ).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new Refusal('stopped before the switch: the rows in use are unchanged, and the next rebuild begins again');
  });
  show(json, { rebuilt: yes, database: addressOf(url), partitions, before: BEFORE }, rebuiltLines);
  if (!yes) throw new Refusal('nothing is changed: run `vigil replay rebuild --yes` to rebuild');
};
