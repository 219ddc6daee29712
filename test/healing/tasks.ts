import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '../support/alive.ts';

const program = path.resolve(import.meta.dirname, '../../packages/supervisor/src/testing/simulated-client.fixture.ts');

/** The faults before each of two steps of a task. Each kind occurs first and second equally often. */
const FAULTS = ['hang', 'crash', 'hang-midway', 'limit', 'hang-tool', 'stall', 'hang-deaf', 'hang-again'] as const;
const STEPS = 6;

/** A task of a simulated coding agent, which finds its finished work in its folder. */
export type Task = { readonly name: string; readonly folder: string; readonly faults: readonly string[] };

export const tasksIn = (folder: string, count: number, faultsEach: number): readonly Task[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `healed-${i + 1}`,
    folder: path.join(folder, `healed-${i + 1}`),
    faults: Array.from(
      { length: faultsEach },
      (_unused, nth) => `${2 + nth}:${FAULTS[(i + nth * (1 + Math.floor(i / FAULTS.length))) % FAULTS.length]}`,
    ),
  }));

/** A program with the name `claude`, so that the adapter of Claude Code recognises it. */
export const writeClient = (folder: string): string => {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'claude');
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" --no-warnings "${program}" "$@"\n`);
  chmodSync(file, 0o755);
  return file;
};

export const templateOf = ({ name, folder, faults }: Task, command: string) => {
  mkdirSync(folder, { recursive: true });
  const env = { SIMULATED_CLIENT: 'claude-code', SIMULATED_FAULTS: faults.join(','), SIMULATED_LIMIT_MS: '8000' };
  return { name, task: `T-${name}`, command, args: ['-p', 'work on the task'], cwd: folder, env };
};

const linesOf = ({ folder }: Task, file: string): readonly string[] =>
  existsSync(path.join(folder, file)) ? readFileSync(path.join(folder, file), 'utf8').trim().split('\n') : [];

/** The number of its faults; `hang-again` counts as two. */
export const injectedIn = (task: Task): number => linesOf(task, 'faults').length;
export const effectsOf = (task: Task): readonly string[] => linesOf(task, 'effects');
export const turnsOf = (task: Task): readonly string[] => linesOf(task, 'turns');
export const everyStepOnce: readonly string[] = Array.from({ length: STEPS }, (_, i) => `step ${i + 1}`);

/** Processes in the folder of a task: those of its sessions, and their children. */
export const processesIn = (task: Task): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === task.folder && isAlive(pid);
      } catch {
        return false;
      }
    });
