// Generated from packages/sdk/src/hook/main.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { appendFileSync, writeSync } from 'node:fs';
import { answerFor } from './answer.mjs';
import {              nothing } from './door.mjs';
import {                 readInput } from './input.mjs';
import {              reportOf } from './report.mjs';
import { askSupervisor } from './supervisor.mjs';
/** Claude Code writes at once and closes; one that does not is not waited for. Milliseconds. */
const INPUT_MS = 2000;
const LARGEST_INPUT = 64 << 20;
const readStdin = ()                  =>
  new Promise((resolve) => {
    const { stdin } = process;
    if (stdin.isTTY) return resolve('');
    const giveUp = setTimeout(() => resolve(''), INPUT_MS);
    const chunks           = [];
    let length = 0;
    const done = (text        )       => {
      clearTimeout(giveUp);
      resolve(text);
    };
    stdin.setEncoding('utf8');
    stdin.on('data', (chunk        ) => {
      length += chunk.length;
      if (length <= LARGEST_INPUT) chunks.push(chunk);
    });
    stdin.on('end', () => done(chunks.join(''))).on('error', () => done(''));
  });
const ask = async (input           , report        , env             )                  => {
  if (env.VIGIL_SOCKET) return askSupervisor(env.VIGIL_SOCKET, report);
  if (!env.VIGIL_GATEWAY_URL) return nothing;
  const { askGateway } = await import( './gateway.mjs');
  return askGateway(env.VIGIL_GATEWAY_URL, input, report, env);
};
const run = async (env             )                  => {
  const input = readInput(await readStdin());
  const report = input === null ? null : reportOf(input, Date.now(), env);
  if (input === null || report === null) return 'no event of ours';
  const answer = await ask(input, report, env);
  const output = answerFor(input.event, answer.texts, answer.denial, Date.now());
  if (output !== null) writeSync(1, `${output}\n`);
  await answer.told();
  return input.event;
};
/** For whoever wants to know what it does, and how long it takes: VIGIL_HOOK_DEBUG names a file. */
const note = (file                    , what        , since        )       => {
  if (!file) return;
  const ms = Number(process.hrtime.bigint() - since) / 1e6;
  appendFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), what, ms })}\n`);
};
/**
 * One event of Claude Code's: reads it from stdin, tells Vigil, answers on stdout. Whatever goes wrong, the session does not notice: nothing is
 * printed, and the exit code is 0. `since`: when this process began to be ours.
 */
export const main = async (since        )                 => {
  const { env } = process;
  process.on('uncaughtException', () => process.exit(0));
  const what = await run(env).catch((error         ) => String(error instanceof Error ? error.stack : error));
  note(env.VIGIL_HOOK_DEBUG, what, since);
  process.exit(0);
};
