import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { HookPayload } from './adapter.ts';

/** An event of a client's hooks, and when the hook started. */
export type RecordedHook = { readonly run: string; readonly at: number; readonly payload: HookPayload };

const linesOf = (name: string): readonly string[] =>
  gunzipSync(readFileSync(new URL(`../recordings/${name}`, import.meta.url)))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');

/** All hook events of real sessions of Claude Code 2.1.330, Codex 0.169.0 and Gemini CLI 0.61.0 with a scripted model. */
export const recordedHooks = (adapter: string): readonly RecordedHook[] =>
  linesOf(`${adapter}.hooks.jsonl.gz`).map((line): RecordedHook => JSON.parse(line));

/** The events by run, in the order of their times. */
export const recordedRuns = (adapter: string): ReadonlyMap<string, readonly RecordedHook[]> =>
  Map.groupBy(
    [...recordedHooks(adapter)].sort((one, other) => one.at - other.at),
    ({ run }) => run,
  );

/** A line of a client's output stream, or of the file in which it keeps a session. */
export type RecordedLine = { readonly run: string; readonly line: string };

export const recordedStreams = (adapter: string): ReadonlyMap<string, readonly RecordedLine[]> =>
  Map.groupBy(
    linesOf(`${adapter}.streams.jsonl.gz`).map((line): RecordedLine => JSON.parse(line)),
    ({ run }) => run,
  );

/** For each run, the session file and then those of its sub-agents. */
export const recordedTranscripts = (adapter: string): ReadonlyMap<string, readonly RecordedLine[]> =>
  Map.groupBy(
    linesOf(`${adapter}.transcripts.jsonl.gz`).map((line): RecordedLine => JSON.parse(line)),
    ({ run }) => run,
  );

/** The hook events of the runs that were also recorded as streams and files. */
export const recordedSameRuns = (adapter: string): ReadonlyMap<string, readonly RecordedHook[]> =>
  Map.groupBy(
    linesOf(`${adapter}.same-runs.jsonl.gz`).map((line): RecordedHook => JSON.parse(line)),
    ({ run }) => run,
  );
