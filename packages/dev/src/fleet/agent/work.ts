import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Vigil } from './client.ts';

/** The working data of an agent of the demonstration fleet. */
export type Desk = {
  readonly vigil: Vigil;
  readonly task: string;
  readonly attempt: number;
  /** the folder of its checkpoints */
  readonly folder: string;
  /** the checkpoint from which it continues; undefined if it starts at the beginning */
  readonly from: string | undefined;
  /** epoch milliseconds */
  readonly now: () => number;
  readonly newId: () => string;
};

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

type Outcome = { readonly outcome: 'ok' | 'error'; readonly result: string; readonly errorClass?: string };

/** One call of a tool, reported as it begins and as it ends. */
export const call = async (
  { vigil, now, newId }: Desk,
  tool: string,
  args: string,
  ms: number,
  done: Outcome,
): Promise<void> => {
  const begun = {
    call_id: newId(),
    tool,
    args_hash: digest(args),
    started_at: now(),
    deadline_at: now() + 20_000,
  };
  vigil.report({ activity: 'working', tool_calls: [{ ...begun, outcome: 'running' }] });
  await sleep(ms);
  const { outcome, result, errorClass } = done;
  const ended = {
    ...begun,
    outcome,
    ended_at: now(),
    result_hash: digest(result),
    error_class: errorClass ?? null,
  };
  vigil.report({ tool_calls: [{ ...ended, mutating: tool === 'Edit' }] });
};

/** At most ten of them, because some of these tasks never end. */
const pieces = (from: number, to: number): string[] =>
  Array.from({ length: Math.min(10, to - from) }, (_, n) => `part ${from + n + 1}`);

/** Everything that a replacement needs to continue after this step. */
export const checkpoint = ({ vigil, task, attempt, folder, now }: Desk, step: number, of: number): void => {
  const work = { completed_work: pieces(Math.max(0, step - 10), step), remaining_work: pieces(step, of) };
  const text = JSON.stringify({ schema_version: '1.1.0', task_id: task, step, of, ...work }, null, 2);
  const id = `${task}-${attempt}-${step}`;
  const file = path.join(folder, `${id}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, text);
  const where = { uri: pathToFileURL(file).href, sha256: digest(text), created_at: now() };
  vigil.report({ reports_checkpoints: true, checkpoint: { checkpoint_id: id, ...where, ...work } });
};

/** The last step of the previous agent. */
export const stepReached = ({ from }: Desk): number =>
  from === undefined ? 0 : (JSON.parse(readFileSync(from, 'utf8')) as { step: number }).step;

/** One part of the task: read, write, checkpoint. */
export const part = async (desk: Desk, step: number, of: number): Promise<void> => {
  print(`part ${step} of ${of}`);
  desk.vigil.report({ phase: 'build', progress_indicator: `${step}/${of}`, token_count: step * 1200 });
  await call(desk, 'Read', `part ${step}`, 300, { outcome: 'ok', result: `text of part ${step}` });
  await call(desk, 'Edit', `part ${step}`, 500, { outcome: 'ok', result: `part ${step} written` });
  checkpoint(desk, step, of);
  await sleep(700);
};

/** Does all remaining parts and ends. */
export const finish = async (desk: Desk, of: number, from = stepReached(desk) + 1): Promise<void> => {
  for (let step = from; step <= of; step += 1) await part(desk, step, of);
  print('all parts are done');
  desk.vigil.report({ activity: 'finished', progress_indicator: `${of}/${of}` });
};
