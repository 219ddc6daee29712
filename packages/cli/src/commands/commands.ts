import type { Command } from 'commander';

/** Commands that are in one file. It is loaded when one of them is called, so that each starts with its own modules only. */
export type CommandFile = {
  readonly names: readonly string[];
  readonly load: () => Promise<{ readonly register: (program: Command) => void }>;
};

/** In the order of `vigil --help`. */
const files: readonly CommandFile[] = [
  { names: ['run'], load: () => import('./run.ts') },
  { names: ['runtime'], load: () => import('./runtime.ts') },
  { names: ['attach'], load: () => import('./attach.ts') },
  { names: ['stop'], load: () => import('./stop.ts') },
  { names: ['adopt'], load: () => import('./adopt.ts') },
  { names: ['hook'], load: () => import('./hook.ts') },
  { names: ['health'], load: () => import('./health.ts') },
  { names: ['explain'], load: () => import('./explain.ts') },
  { names: ['case'], load: () => import('./case.ts') },
  { names: ['hold', 'release'], load: () => import('./hold.ts') },
  { names: ['nudge'], load: () => import('./nudge.ts') },
  { names: ['recover'], load: () => import('./recover.ts') },
  { names: ['host'], load: () => import('./host.ts') },
  { names: ['brake', 'dry-run'], load: () => import('./fleet.ts') },
  { names: ['halt', 'resume'], load: () => import('./halt.ts') },
  { names: ['events'], load: () => import('./events.ts') },
  { names: ['task'], load: () => import('./task.ts') },
  { names: ['alert'], load: () => import('./alert.ts') },
  { names: ['breaker'], load: () => import('./breaker.ts') },
  { names: ['doctor'], load: () => import('./doctor.ts') },
  { names: ['policy'], load: () => import('./policy.ts') },
  { names: ['evaluate'], load: () => import('./evaluate.ts') },
  { names: ['token'], load: () => import('./token.ts') },
  { names: ['topics'], load: () => import('./topics.ts') },
  { names: ['transactions'], load: () => import('./transactions.ts') },
  { names: ['schemas'], load: () => import('./schemas.ts') },
];

/** The file of the command of this name; all of them for any other word, such as `--help` or a misspelt name. */
export const filesFor = (word: string | undefined): readonly CommandFile[] => {
  const file = files.find(({ names }) => word !== undefined && names.includes(word));
  return file === undefined ? files : [file];
};
