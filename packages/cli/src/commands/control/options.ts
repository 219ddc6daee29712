import { parseDuration } from '@vigil/policy';
import { type Command, InvalidArgumentError } from 'commander';
import { dashboard, show, whoAmI } from '../../terminal.ts';

/** `10m`, `90s`, `1.5h` as milliseconds. */
export function durationOption(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0) throw new InvalidArgumentError('Give a duration such as 10m, 90s or 1.5h.');
  return ms;
}

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

/** Posts a command to the dashboard, and shows the written event. */
export async function write(command: object, options: WriteOptions, next?: string): Promise<void> {
  await writeAndShow(command, options, () => next ?? null);
}

/** The same. `next`: the command that shows the outcome; null: there is none. */
export async function writeAndShow(
  command: object,
  { by, why, json }: WriteOptions,
  next: (written: Written) => string | null,
): Promise<Written> {
  const written = await dashboard().post<Written>('/v1/commands', { ...command, by, why });
  const where = next(written);
  show(json, written, (answer) => [writtenLine(answer), ...(where === null ? [] : [`What becomes of it: ${where}`])]);
  return written;
}

export const writtenLine = ({ type, eventId }: Written): string => `${type} is written (${eventId}).`;

export const path = (...parts: readonly string[]): string => `/v1/${parts.map(encodeURIComponent).join('/')}`;
