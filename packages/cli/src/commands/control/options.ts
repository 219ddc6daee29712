import { parseDuration } from '@vigil/policy';
import type { Outcome } from '@vigil/read-model';
import { type Command, InvalidArgumentError } from 'commander';
import { outcomeLine } from '../../render/outcome.ts';
import { jsonText, plain, plainAll } from '../../render/plain.ts';
import { dashboard, endUnwell, print, show, whoAmI } from '../../terminal.ts';

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

/** What the dashboard answers to a command. */
export type Written = {
  readonly eventId: string;
  readonly topic: string;
  readonly type: string;
  readonly key: string;
  /** keys of further events of the same kind */
  readonly alsoFor: readonly string[];
  /** of all events */
  readonly eventIds: readonly string[];
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

/** How long a command waits for its outcome, milliseconds, and one question to the dashboard, seconds. */
const PATIENCE_MS = 30_000;
const QUESTION_S = 5;

/**
 * Posts a command to the dashboard, and shows what is requested and what became of it; both to programs. Ends with 1 if
 * it was refused, or is not decided in half a minute.
 */
export const write = async (command: object, request: Request, options: WriteOptions): Promise<void> => {
  const { by, why, json, wait } = options;
  const { requested, outcome } = request;
  if (!wait) return void (await writeAndShow(command, options, () => ({ requested, outcome })));
  const written = await dashboard().post<Written>('/v1/commands', { ...command, by, why });
  if (!json) print([...requestLines(requested, null), ...alsoLines(written)]);
  const became = await outcomeOf(written.eventId, performance.now() + PATIENCE_MS);
  if (became.outcome !== 'applied') endUnwell();
  print([json ? jsonText({ ...written, ...became }) : outcomeLine(plainAll(became), outcome)]);
};

const alsoLines = ({ key, alsoFor }: Written): readonly string[] =>
  alsoFor.length === 0 ? [] : [`It is written for each of ${[key, ...alsoFor].map(plain).join(', ')}.`];

/** `until`: by `performance.now()` */
const outcomeOf = async (eventId: string, until: number): Promise<Outcome> => {
  for (;;) {
    const became = await dashboard().get<Outcome>(path('commands', eventId), { wait: String(QUESTION_S) });
    if (became.outcome !== 'pending' || performance.now() >= until) return became;
  }
};

/** The same, where the command that shows the outcome names the written event. `outcome` null: it is waited for. */
export const writeAndShow = async (
  command: object,
  { by, why, json }: WriteOptions,
  requestOf: (written: Written) => { readonly requested: string; readonly outcome: string | null },
): Promise<Written> => {
  const written = await dashboard().post<Written>('/v1/commands', { ...command, by, why });
  const { requested, outcome } = requestOf(written);
  show(json, written, () => requestLines(requested, outcome));
  return written;
};

export const requestLines = (requested: string, outcome: string | null): readonly string[] => [
  `Requested: ${plain(requested)}.`,
  ...(outcome === null ? [] : [`What becomes of it: ${plain(outcome)}`]),
];

export const path = (...parts: readonly string[]): string => `/v1/${parts.map(encodeURIComponent).join('/')}`;
