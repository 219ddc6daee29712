// Generated from packages/sdk/src/hook/call.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { argsHash, hashes } from '../hashes.mjs';
import {                 within } from './input.mjs';
/** Claude Code's own default for Bash, milliseconds; BASH_DEFAULT_TIMEOUT_MS sets another. */
const BASH_TIMEOUT_MS = 120_000;
const SHELLS                      = new Set(['Bash', 'PowerShell']);
/**
 * A success of these is progress by itself. A shell command's is not, though it may change anything: one that is repeated with the same
 * result is what a loop looks like, and one that has changed something mostly says so in its result.
 */
const MUTATING                      = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);
/** Asking again is what these are for. */
const POLLING                      = new Set(['BashOutput', 'TaskOutput', 'Monitor']);
const WAITING_COMMAND = /(?:^|[;&|(]\s*)(?:sleep|watch)\s/;
/** A person answers these. */
const ASKING                      = new Set(['AskUserQuestion', 'ExitPlanMode']);
const LONGEST_NAME = 512;
const LONGEST_TARGET = 4096;
/** Of an error's text only its beginning says what it is; what follows is output. */
const ERROR_HEAD = 400;
export const asksPerson = (tool        )          => ASKING.has(tool);
export const kindOf = (tool        )           =>
  tool === 'WebFetch' || tool === 'WebSearch' || tool.startsWith('mcp__') ? 'external_api' : 'tool';
const isPolling = (tool        , args         )          => {
  const command = within(args, 'command');
  return POLLING.has(tool) || (SHELLS.has(tool) && typeof command === 'string' && WAITING_COMMAND.test(command));
};
const targetOf = (args         )                => {
  const target = within(args, 'file_path') ?? within(args, 'notebook_path');
  return typeof target === 'string' ? target.slice(0, LONGEST_TARGET) : null;
};
/** Milliseconds that the call may take by its own declaration; null: it declares none. */
const spanOf = (tool        , args         , env             )                => {
  if (!SHELLS.has(tool)) return null;
  const declared = Number(within(args, 'timeout') ?? env.BASH_DEFAULT_TIMEOUT_MS ?? BASH_TIMEOUT_MS);
  return Number.isFinite(declared) && declared > 0 ? Math.round(declared) : BASH_TIMEOUT_MS;
};
/** `exit_1` is a command's own verdict, the others are the tool's. */
const errorClassOf = (tool        , error        , interrupted         )         => {
  const head = error.slice(0, ERROR_HEAD);
  if (interrupted) return 'aborted';
  if (/\btimed[ -]?out\b|\btimeout\b/i.test(head)) return 'timeout';
  const status = SHELLS.has(tool) ? /^Exit code (\d{1,3})\b/.exec(head)?.[1] : undefined;
  if (status !== undefined) return `exit_${status}`;
  if (kindOf(tool) === 'external_api' && /\brate[ _-]?limit|\b429\b|\boverloaded/i.test(head)) return 'rate_limit';
  return 'tool_error';
};
/** A call that is told of twice, at its start and at its end, has one id. */
const idOf = (input           , tool        , args         )         =>
  (input.text('tool_use_id') ?? `${tool}-${argsHash(args)}`).slice(0, LONGEST_NAME);
const shape = (input           )           => {
  const tool = (input.text('tool_name') ?? 'unknown').slice(0, LONGEST_NAME);
  const args = input.field('tool_input');
  return {
    call_id: idOf(input, tool, args),
    kind: kindOf(tool),
    tool,
    args_hash: argsHash(args),
    result_hash: null,
    masked_result_hash: null,
    outcome: 'running',
    error_class: null,
    started_at: null,
    ended_at: null,
    deadline_at: null,
    mutating: MUTATING.has(tool),
    polling: isPolling(tool, args),
    target: targetOf(args),
  };
};
const startOf = (input           , endedAt        )                => {
  const took = input.field('duration_ms');
  return typeof took === 'number' && took >= 0 && took < endedAt ? Math.round(endedAt - took) : null;
};
const ended = (input           , at        , result         )           => {
  const { result_hash, masked_result_hash } = hashes({ result });
  return { ...shape(input), result_hash, masked_result_hash, started_at: startOf(input, at), ended_at: at };
};
/** `at`: now, epoch milliseconds. No content of the call is in it. */
export const begunCall = (input           , at        , env             )           => {
  const call = shape(input);
  const span = spanOf(call.tool, input.field('tool_input'), env);
  return { ...call, started_at: at, deadline_at: span === null ? null : at + span };
};
export const doneCall = (input           , at        )           => ({
  ...ended(input, at, input.field('tool_response')),
  outcome: 'ok',
});
export const failedCall = (input           , at        )           => {
  const error = input.text('error') ?? '';
  const call = ended(input, at, error);
  const error_class = errorClassOf(call.tool, error, input.field('is_interrupt') === true);
  return { ...call, outcome: 'error', error_class };
};
