import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { adapterNamed } from '@vigil/adapters';
import { bundleOf } from '@vigil/dev';

export type Call = {
  readonly tool: string;
  readonly args?: unknown;
  readonly args_h: string;
  readonly resn_h: string;
  /** whether it failed; null: unknown */
  readonly err?: boolean | null;
  /** seconds */
  readonly ts: number | null;
  readonly started_at?: number | null;
  readonly deadline_at?: number | null;
};
export type Run = {
  readonly src: string;
  /** the client and its version */
  readonly agent?: string;
  readonly run_id: string;
  readonly success: boolean;
  readonly label: 'loop' | 'clean' | 'ambiguous';
  readonly calls: readonly Call[];
};
export type Change = {
  readonly to: string;
  readonly call: number;
  readonly at: number;
  readonly signals: readonly string[];
};
export type Judged = { readonly run_id: string; readonly worst: string; readonly changes: readonly Change[] };

/** Every run of the folder's *.jsonl and *.jsonl.gz, in the order of names and lines. */
export const readRuns = (folder: string): readonly Run[] =>
  readdirSync(folder)
    .filter((name) => /\.jsonl(\.gz)?$/.test(name))
    .sort()
    .map((name) => readFileSync(path.join(folder, name)))
    .map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('utf8'))
    .flatMap((text) => text.split('\n').filter(Boolean))
    .map((line) => reported(JSON.parse(line) as Run));

/** The run with the flags and deadlines that the adapter of its client sends, if Vigil has one. */
const reported = (run: Run): Run => {
  const adapter = adapterNamed(run.agent?.split(' ')[0] ?? '');
  if (adapter === undefined) return run;
  const calls = run.calls.map((call): Call => {
    const { limitMs, mutating, polling, target } = adapter.traitsOf(call.tool, call.args);
    const from = call.started_at ?? null;
    const deadline_at = limitMs === null || from === null ? null : from + limitMs / 1000;
    return { ...call, ...{ mutating, polling, target, deadline_at } };
  });
  return { ...run, calls };
};

/** The judgement of `vigil evaluate --json`, so that users get the measured result. */
export const evaluated = async (runs: readonly Run[], policy: string): Promise<readonly Judged[]> => {
  const args = [bundleOf('vigil'), 'evaluate', '--json', '--policy', policy, '-'];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(runs.map((run) => `${JSON.stringify(run)}\n`).join(''));
  let out = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) out += chunk;
  const judged = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Judged)
    // A line without a run names the signals that its file cannot feed.
    .filter(({ run_id }) => run_id !== undefined);
  if (judged.length !== runs.length || judged.some(({ run_id }, i) => run_id !== runs[i]?.run_id))
    throw new Error(`of ${runs.length} runs ${judged.length} were judged: see above`);
  return judged;
};
