import { parseDuration } from '@vigil/policy';
import { type Command, InvalidArgumentError } from 'commander';
import { plain } from '../../render/plain.ts';
import { dashboard, show, whoAmI } from '../../terminal.ts';

/** `10m`, `90s`, `1.5h` as milliseconds. */
export const durationOption = (text: string): number => {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0) throw new InvalidArgumentError('Give a duration such as 10m, 90s or 1.5h.');
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
};

/** The reason and the name under which a command is written. */
export type WriteOptions = { readonly why: string; readonly by: string; readonly json?: boolean };

const WHY = ['--why <text>', 'the reason, for those who read it later'] as const;

const withAuthor = (command: Command): Command =>
  command.option('--by <name>', 'your name', whoAmI()).option('--json', 'for programs');

/** Adds what every command that changes something takes. */
export const withWriteOptions = (command: Command): Command => withAuthor(command.option(...WHY, 'by hand'));

/** The same for a decision, which needs a reason. */
export const withDecisionOptions = (command: Command): Command => withAuthor(command.requiredOption(...WHY));

/** What is requested, in a sentence for people. `outcome`: the command that shows what becomes of it. */
export type Request = { readonly requested: string; readonly outcome: string };

/** Posts a command to the dashboard, and shows what is requested; the written event to programs. */
export const write = async (command: object, { requested, outcome }: Request, options: WriteOptions): Promise<void> => {
  await writeAndShow(command, options, () => ({ requested, outcome }));
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
