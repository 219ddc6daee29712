import { setTimeout as pause } from 'node:timers/promises';
import { parseDuration } from '@vigil/policy';
import type { WrittenCommand } from '@vigil/read-model';
import { type Command, InvalidArgumentError } from 'commander';
import { Unconfirmed } from '../../errors.ts';
import { type Followed, follow } from '../../follow.ts';
import { outageLines, outcomeLine } from '../../render/outcome.ts';
import { jsonText, plain, plainAll } from '../../render/plain.ts';
import { dashboard, endUnwell, print, show, view, whoAmI } from '../../terminal.ts';

/** `10m`, `90s`, `1.5h` as milliseconds. */
export const durationOption = (text: string): number => {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0) throw new InvalidArgumentError('Give a duration such as 10m, 90s or 1.5h.');
  return ms;
};

const MONTH_MS = 30 * 86_400_000;

/** The same, up to the longest hold and the longest wait of a case. */
export const upToMonthOption = (text: string): number => {
  const ms = durationOption(text);
  if (ms > MONTH_MS) throw new InvalidArgumentError('Give at most 30d.');
  return ms;
};

/** The reason and the name under which a command is written. */
export type WriteOptions = {
  readonly why: string;
  readonly by: string;
  readonly json?: boolean;
  readonly wait: boolean;
};

const WHY = ['--why <text>', 'the reason, for those who read it later'] as const;

const withAuthor = (command: Command): Command =>
  command
    .option('--by <name>', 'your name', whoAmI())
    .option('--no-wait', 'do not wait for the outcome')
    .option('--json', 'for programs');

/** Adds what every command that changes something takes. */
export const withWriteOptions = (command: Command): Command => withAuthor(command.option(...WHY, 'by hand'));

/** The same for a decision, which needs a reason. */
export const withDecisionOptions = (command: Command): Command => withAuthor(command.requiredOption(...WHY));

/** What is requested, in a sentence for people. `outcome`: the command that shows what becomes of it. */
export type Request = { readonly requested: string; readonly outcome: string };

/** What shows the outcome of any command. */
export const shownBy = (eventId: string): string => `vigil command show ${eventId}`;

type Sent = Pick<WrittenCommand, 'eventId'> & Partial<WrittenCommand>;

/** A command that Kafka has not acknowledged may be written: it is followed like any other. */
export const sent = async (command: object, json: boolean | undefined): Promise<Sent> => {
  try {
    return await dashboard().post<WrittenCommand>('/v1/commands', command);
  } catch (error) {
    if (!(error instanceof Unconfirmed)) throw error;
    const { eventId } = error;
    if (!json) print([`Kafka has not acknowledged the command ${eventId} in time: it may still be applied.`]);
    return { eventId };
  }
};

/**
 * Posts a command to the dashboard, and shows what is requested and what became of it; both to programs. Ends with 1 if
 * it was refused, or its outcome is not known in time.
 */
export const write = async (command: object, request: Request, options: WriteOptions): Promise<void> => {
  const { by, why, json, wait } = options;
  const { requested, outcome } = request;
  if (!wait) return void (await writeAndShow(command, options, () => ({ requested, outcome })));
  const written = await sent({ ...command, by, why }, json);
  if (!json) print([...requestLines(requested, null), ...alsoLines(written)]);
  const followed = await followShown(written.eventId, json);
  const later = [outcome, shownBy(written.eventId)];
  if (followed.became.outcome !== 'applied') endUnwell();
  print([json ? jsonText({ ...written, ...followed.became }) : outcomeLine(view(), plainAll(followed), later)]);
};

/** Follows a command; people read why it takes long. */
export const followShown = (eventId: string, json: boolean | undefined): Promise<Followed> =>
  follow(eventId, {
    client: dashboard(),
    now: () => performance.now(),
    clock: Date.now,
    pause,
    onOutage: (away) => {
      if (!json) print(outageLines(view(), plainAll(away), shownBy(eventId)));
    },
  });

const alsoLines = ({ key = '', alsoFor = [] }: Sent): readonly string[] =>
  alsoFor.length === 0 ? [] : [`It is written for each of ${[key, ...alsoFor].map(plain).join(', ')}.`];

/** The same, where the command that shows the outcome names the written event. `outcome` null: it is waited for. */
export const writeAndShow = async (
  command: object,
  { by, why, json }: WriteOptions,
  requestOf: (written: WrittenCommand) => { readonly requested: string; readonly outcome: string | null },
): Promise<WrittenCommand> => {
  const written = await dashboard().post<WrittenCommand>('/v1/commands', { ...command, by, why });
  const { requested, outcome } = requestOf(written);
  show(json, written, () => requestLines(requested, outcome));
  return written;
};

export const requestLines = (requested: string, outcome: string | null): readonly string[] => [
  `Requested: ${plain(requested)}.`,
  ...(outcome === null ? [] : [`What becomes of it: ${plain(outcome)}`]),
];

export const path = (...parts: readonly string[]): string => `/v1/${parts.map(encodeURIComponent).join('/')}`;
