import { at } from './payload.ts';

const ASKING =
  /^(?:timeout\s+\S+\s+)?(?:[efz]?grep|rg|git\s+grep|test|\[\[?|diff|cmp|ls|pgrep|which|command\s+-v)(?:\s|$)/;
const TIMED = /^timeout\s/;
const QUOTED = /"[^"]*"|'[^']*'/g;

/** The text of a command: itself, or the last word of `["bash", "-lc", "…"]`. */
const commandIn = (args: unknown): string | null => {
  const command = at(args, 'command') ?? at(args, 'cmd') ?? args;
  if (typeof command === 'string') return command;
  const words = Array.isArray(command) ? command.map(String) : [];
  if (words.length === 0) return null;
  return words.length === 3 && /^-l?c$/.test(words[1] ?? '') ? (words[2] ?? null) : words.join(' ');
};

/** The command that decides the exit code of a line: the last one, without assignments before it. */
const lastOf = (line: string): string =>
  (
    line
      .replace(QUOTED, 'x')
      .trim()
      .split(/[;&|\n]/)
      .at(-1) ?? ''
  )
    .trim()
    .replace(/^(?:!\s+|[A-Za-z_]\w*=\S*\s+)+/, '');

/**
 * Whether an exit code that is not 0 is an answer of the command, not a failure. Examples are 1 of `grep` or `test`,
 * and 124 of `timeout`, which ended a program as it should.
 */
export const isAnswer = (args: unknown, errorClass: string): boolean => {
  const command = commandIn(args);
  if (command === null) return false;
  const last = lastOf(command);
  return (errorClass === 'exit_1' && ASKING.test(last)) || (errorClass === 'exit_124' && TIMED.test(last));
};

/** The same of a recorded call whose exit code is not known: a program that fails names itself in its message. */
export const mayBeAnswer = (args: unknown, result: unknown): boolean => {
  const saysWhy = typeof result === 'string' && /^(?:\S+: )?(?:line \d+: )?(?:\S*\/)?\w+: /.test(result);
  return !saysWhy && (isAnswer(args, 'exit_1') || isAnswer(args, 'exit_124'));
};
