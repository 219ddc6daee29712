import { at } from './payload.ts';

/** Programs whose exit code 1 means no, or none. */
const PROGRAMS: readonly string[] = [
  String.raw`[efz]?grep|rg|ag|ack|test|\[\[?|diff|cmp|ls|pgrep|pidof|lsof|which|type|command\s+-v`,
  String.raw`git\s+(?:grep|check-ignore|merge-base\s+--is-ancestor|diff\b(?=.*\s--(?:quiet|exit-code)\b))`,
  String.raw`jq\b(?=.*\s(?:-\w*e|--exit-status))`,
];
const ASKING = new RegExp(
  String.raw`^(?:timeout\s+\S+\s+|(?:sudo|time|nice|env)\s+)*(?:${PROGRAMS.join('|')})(?:\s|$)`,
);
const TIMED = /^timeout\s/;
const QUOTED = /"[^"]*"|'[^']*'/g;
const CONDITION = /\[\[\s[^\n]*?\s\]\]/g;
const REDIRECTION = /&>>?\s*\S+|\d*[<>]&(?:\d+|-)|\d*>>?\s*[^\s&|;]+/g;
const COMMENT = /(?:^|\s)#.*$/gm;

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
      .replace(CONDITION, '[[ x ]]')
      .replace(REDIRECTION, '')
      .replace(COMMENT, '')
      .replace(/[\s;]+$/, '')
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

const CLASSES = ['exit_1', 'exit_124'] as const;

/** The classes of exit codes that are answers of a command. */
export const answersOf = (args: unknown): readonly string[] => CLASSES.filter((one) => isAnswer(args, one));

/** The same of a recorded call whose exit code is not known: a program that fails names itself in its message. */
export const mayBeAnswer = (args: unknown, result: unknown): boolean => {
  const saysWhy = typeof result === 'string' && /^(?:\S+: )?(?:line \d+: )?(?:\S*\/)?\w+: /.test(result);
  return !saysWhy && answersOf(args).length > 0;
};
