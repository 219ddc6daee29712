// Generated from packages/adapters/src/codex/tools.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import {                  isWaitingCommand,                 } from '../shared/calls.mjs';
import { numberAt, textAt } from '../shared/payload.mjs';
const SHELLS                      = new Set(['Bash', 'shell', 'exec_command', 'local_shell']);
const EDITS                      = new Set(['apply_patch', 'Edit', 'Write']);
/** Asking again is what these are for. A hook names the group of a tool before it: `multi_agent_v1wait_agent`. */
const POLLING = /^(?:write_stdin|wait|(?:multi_agent_v\d+|collaboration)?wait_agent)$/;
/** The first file that a patch names. */
const patchedFile = (args         )                => {
  const patch = textAt(args, 'command') ?? textAt(args, 'input') ?? textAt(args, 'patch') ?? '';
  return /^\*\*\* (?:Add|Update|Delete) File: (.+)$/m.exec(patch)?.[1]?.trim() ?? null;
};
const kindOf = (tool        )                     =>
  tool === 'web_search' || tool.startsWith('mcp__') ? 'external_api' : 'tool';
export const codexTraitsOf = (tool        , args         )             => {
  const declared = SHELLS.has(tool) ? numberAt(args, 'timeout_ms') : null;
  return {
    kind: kindOf(tool),
    mutating: EDITS.has(tool),
    polling: POLLING.test(tool) || (SHELLS.has(tool) && isWaitingCommand(textAt(args, 'command'))),
    target: EDITS.has(tool) ? (textAt(args, 'file_path') ?? patchedFile(args)) : null,
    limitMs: declared !== null && declared > 0 ? Math.round(declared) : null,
  };
};
export const codexCall = (callId               , tool               , args         )             => {
  const name = tool ?? 'unknown';
  return { callId, tool: name, args, traits: codexTraitsOf(name, args) };
};
/** A command as the hooks name it: the text after `bash -lc`. */
export const commandOf = (command         )         => {
  if (typeof command === 'string') return command;
  const words = Array.isArray(command) ? command.map(String) : [];
  return words.length === 3 && /^-l?c$/.test(words[1] ?? '') ? (words[2] ?? '') : words.join(' ');
};
/** The exit code that an output states, in any of the formats in which Codex passes it to its model; null: it states none. */
export const exitCodeOf = (output         )                => {
  const stated = numberAt(output, 'metadata', 'exit_code') ?? numberAt(output, 'exit_code');
  if (stated !== null || typeof output !== 'string') return stated;
  const head = output.slice(0, 400);
  const line = /^(?:Process exited with code|Exit code:?) (-?\d{1,10})\s*$/m.exec(head)?.[1];
  if (line !== undefined) return Number(line);
  const json = /"exit_code":\s*(-?\d{1,10})/.exec(output.startsWith('{') ? output.slice(-200) : '')?.[1];
  return json === undefined ? null : Number(json);
};
