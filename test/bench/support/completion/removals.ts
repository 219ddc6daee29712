import type { Run } from './claims.ts';

const REMOVING = /(?:^|[\s;&|(])(?:rm|mv|git\s+clean)\s/;

const textOf = (args: unknown, field: string): string | null => {
  const value = (args as Readonly<Record<string, unknown>> | null)?.[field];
  return typeof value === 'string' ? value : null;
};

/** Whether the run writes a file with a tool for files, and a later shell command of its own removes or moves it by name. */
export const removesOwnFile = ({ calls }: Pick<Run, 'calls'>): boolean => {
  const names = new Set<string>();
  return calls.some(({ tool, args, err }) => {
    const file = textOf(args, 'file_path');
    if (tool === 'Write' && err === false && file !== null) names.add(file.slice(file.lastIndexOf('/') + 1));
    const command = tool === 'Bash' ? textOf(args, 'command') : null;
    return command !== null && REMOVING.test(command) && [...names].some((name) => command.includes(name));
  });
};
