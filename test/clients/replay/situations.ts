import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type RecordedHook, recordedRuns } from '@vigil/adapters/recordings';
import { recordingsDir } from '../recordings/cast.ts';

/**
 * How a recording continues after its last event: its client exits, waits for a person or continues, or Esc ends its
 * turn.
 */
export type Ending = 'exits' | 'waits' | 'works' | 'escape';

/** A recording of a session in which the agent works or waits for its person. */
export type Situation = {
  readonly client: string;
  readonly run: string;
  readonly headless: boolean;
  readonly ending: Ending;
  /** a limit refuses requests before the last answer, which fires no hook */
  readonly retries: boolean;
  readonly events: readonly RecordedHook[];
};

const castHooks = (client: string, run: string): readonly RecordedHook[] | null => {
  const file = path.join(recordingsDir, client, `${run}.hooks.jsonl`);
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line): RecordedHook => ({ run, ...JSON.parse(line) }));
};

const situation = (client: string, run: string, headless: boolean, ending: Ending, retries = false): Situation => {
  const events = recordedRuns(client).get(run) ?? castHooks(client, run);
  if (events === null) throw new Error(`no run ${run} of ${client} is recorded`);
  return { client, run, headless, ending, retries, events };
};

/**
 * Every recording in which the agent works or waits. Not here: those that hang (cc-hang-*, cc-rt*, cc-subhang,
 * cc-tui-hang*, stall, prompt-and-hang), loop (*-loop, cc-loopthink), or are refused for good (cc-wedged,
 * cc-tui-wedged, invalid-request).
 */
export const situations: readonly Situation[] = [
  situation('claude-code', 'cc-works', true, 'exits'),
  situation('claude-code', 'cc-denied', true, 'works'),
  situation('claude-code', 'cc-denied2', true, 'works'),
  situation('claude-code', 'cc-denied3', true, 'works'),
  situation('claude-code', 'cc-bash200', true, 'exits'),
  situation('claude-code', 'cc-sub', true, 'exits'),
  situation('claude-code', 'cc-limited', true, 'exits', true),
  situation('claude-code', 'cc-over', true, 'exits', true),
  situation('claude-code', 'cc-tui-compact', false, 'waits'),
  situation('claude-code', 'cc-tui-idle', false, 'waits'),
  situation('claude-code', 'cc-tui-perm', false, 'waits'),
  situation('claude-code', 'cc-tui-perm2', false, 'waits'),
  situation('claude-code', 'cc-tui-nohook', false, 'waits'),
  situation('claude-code', 'cc-tui-ask', false, 'waits'),
  situation('claude-code', 'cc-tui-esc', false, 'escape'),
  situation('claude-code', 'auto-mode-check', false, 'waits'),
  situation('claude-code', 'bash-interrupted', false, 'escape'),
  situation('claude-code', 'permission-bash', false, 'waits'),
  situation('claude-code', 'permission-edit', false, 'waits'),
  situation('claude-code', 'permission-write', false, 'waits'),
  situation('claude-code', 'plan', false, 'waits'),
  situation('claude-code', 'question', false, 'waits'),
  situation('claude-code', 'retries', false, 'waits', true),
  situation('claude-code', 'start-dialogs', false, 'waits'),
  situation('codex', 'cx-bare', true, 'exits'),
  situation('codex', 'cx-tui-perm', false, 'waits'),
  situation('codex', 'cx-tui-perm2', false, 'waits'),
  situation('codex', 'approval', false, 'waits'),
  situation('codex', 'command-interrupted', false, 'waits'),
  situation('gemini-cli', 'gm-bare', true, 'exits'),
  situation('gemini-cli', 'gm-tui-perm', false, 'waits'),
  situation('gemini-cli', 'permission-shell', false, 'waits'),
  situation('gemini-cli', 'permission-write', false, 'waits'),
  situation('gemini-cli', 'start-dialogs', false, 'waits'),
];
