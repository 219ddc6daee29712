import type { Command } from 'commander';

/**
 * Commands that are in one file. It is loaded when one of them is called, so that each starts with its own modules only.
 * `node`: `any` if they only ask a server and use nothing that Node 20.16 lacks; then the launcher starts no other Node.
 */
export type CommandFile = {
  readonly names: readonly string[];
  readonly node: 'any' | 'pinned';
  readonly load: () => Promise<{ readonly register: (program: Command) => void }>;
};

/** In the order of `vigil --help`. */
const files: readonly CommandFile[] = [
  { names: ['run', 'runtime'], node: 'pinned', load: () => import('./supervise/run.ts') },
  { names: ['attach', 'stop', 'restart'], node: 'pinned', load: () => import('./supervise/attach.ts') },
  { names: ['adopt'], node: 'pinned', load: () => import('./supervise/adopt.ts') },
  { names: ['hook'], node: 'pinned', load: () => import('./supervise/hook.ts') },
  { names: ['health'], node: 'any', load: () => import('./inspect/health.ts') },
  { names: ['explain'], node: 'any', load: () => import('./inspect/explain.ts') },
  { names: ['inbox'], node: 'any', load: () => import('./inspect/inbox.ts') },
  { names: ['complete'], node: 'any', load: () => import('./inspect/complete.ts') },
  { names: ['mcp'], node: 'pinned', load: () => import('./inspect/mcp.ts') },
  { names: ['case'], node: 'any', load: () => import('./control/case.ts') },
  {
    names: ['hold', 'release', 'nudge', 'recover', 'host', 'brake', 'dry-run', 'halt', 'resume'],
    node: 'pinned',
    load: () => import('./control/control.ts'),
  },
  { names: ['command'], node: 'any', load: () => import('./control/command.ts') },
  { names: ['breaker'], node: 'any', load: () => import('./control/breaker.ts') },
  { names: ['events'], node: 'pinned', load: () => import('./inspect/events.ts') },
  { names: ['task'], node: 'any', load: () => import('./control/task.ts') },
  { names: ['ticket'], node: 'any', load: () => import('./control/ticket.ts') },
  { names: ['alert'], node: 'any', load: () => import('./control/alert.ts') },
  { names: ['dlq'], node: 'any', load: () => import('./inspect/dlq.ts') },
  { names: ['doctor'], node: 'pinned', load: () => import('./inspect/doctor.ts') },
  { names: ['up'], node: 'any', load: () => import('./admin/up.ts') },
  { names: ['init'], node: 'pinned', load: () => import('./admin/init.ts') },
  { names: ['policy'], node: 'pinned', load: () => import('./admin/policy.ts') },
  { names: ['evaluate'], node: 'pinned', load: () => import('./inspect/evaluate.ts') },
  { names: ['replay'], node: 'pinned', load: () => import('./inspect/replay.ts') },
  { names: ['tune'], node: 'pinned', load: () => import('./inspect/tune.ts') },
  { names: ['login'], node: 'any', load: () => import('./admin/login.ts') },
  { names: ['token'], node: 'pinned', load: () => import('./admin/token.ts') },
  { names: ['log'], node: 'pinned', load: () => import('./admin/log.ts') },
  { names: ['topics', 'transactions', 'schemas'], node: 'pinned', load: () => import('./admin/topics.ts') },
];

/** The file of the command of this name; all of them for any other word, such as `--help` or a misspelt name. */
export const filesFor = (word: string | undefined): readonly CommandFile[] => {
  const file = files.find(({ names }) => word !== undefined && names.includes(word));
  return file === undefined ? files : [file];
};
