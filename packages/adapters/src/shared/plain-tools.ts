import type { ToolTraits } from './calls.ts';
import { isCheckingCommand } from './checks.ts';
import { at, parseLine } from './payload.ts';
import { isWaitingCommand, isWaitingTool } from './polls.ts';

/** The name of a tool that runs shell commands, after its words were separated by `_`. */
const SHELL = /(?:^|_)(?:bash|sh|zsh|shell|terminal|powershell|exec|command|cmd)(?:_|$)/i;

const isShell = (tool: string): boolean =>
  SHELL.test(tool.replace(/([a-z])([A-Z])/g, '$1_$2').replaceAll(/[^A-Za-z]+/g, '_'));

const commandIn = (args: unknown): string | null => {
  const given = typeof args === 'string' ? (parseLine(args) ?? args) : args;
  const command = at(given, 'command') ?? at(given, 'cmd') ?? at(given, 'script') ?? at(given, 'keystrokes') ?? given;
  if (typeof command === 'string') return command;
  return Array.isArray(command) ? command.map(String).join(' ') : null;
};

/** The traits of a call of an unknown client. Only its shell commands and waits are known. */
export const plainTraitsOf = (tool: string, args: unknown): ToolTraits => {
  const command = isShell(tool) ? commandIn(args) : null;
  return {
    kind: 'tool',
    mutating: false,
    polling: isWaitingTool(tool) || isWaitingCommand(command),
    checking: isCheckingCommand(command),
    target: null,
    limitMs: null,
  };
};
