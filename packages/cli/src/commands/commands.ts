import type { Command } from 'commander';

/** Commands that are in one file. It is loaded when one of them is called, so that each starts with its own modules only. */
export type CommandFile = {
  readonly names: readonly string[];
  readonly load: () => Promise<{ readonly register: (program: Command) => void }>;
};

/** In the order of `vigil --help`. */
const files: readonly CommandFile[] = [
  { names: ['run', 'runtime'], load: () => import('./supervise/run.ts') },
  { names: ['attach', 'stop'], load: () => import('./supervise/attach.ts') },
  { names: ['adopt'], load: () => import('./supervise/adopt.ts') },
  { names: ['hook'], load: () => import('./supervise/hook.ts') },
  { names: ['health', 'explain'], load: () => import('./inspect/health.ts') },
  { names: ['case'], load: () => import('./control/case.ts') },
  {
    names: ['hold', 'release', 'nudge', 'recover', 'host', 'breaker', 'brake', 'dry-run', 'halt', 'resume'],
    load: () => import('./control/control.ts'),
  },
  { names: ['events'], load: () => import('./inspect/events.ts') },
  { names: ['task'], load: () => import('./control/task.ts') },
  { names: ['alert'], load: () => import('./control/alert.ts') },
  { names: ['doctor'], load: () => import('./inspect/doctor.ts') },
  { names: ['policy'], load: () => import('./admin/policy.ts') },
  { names: ['evaluate'], load: () => import('./inspect/evaluate.ts') },
  { names: ['token'], load: () => import('./admin/token.ts') },
  { names: ['topics', 'transactions', 'schemas'], load: () => import('./admin/topics.ts') },
];

/** The file of the command of this name; all of them for any other word, such as `--help` or a misspelt name. */
export const filesFor = (word: string | undefined): readonly CommandFile[] => {
  const file = files.find(({ names }) => word !== undefined && names.includes(word));
  return file === undefined ? files : [file];
};
