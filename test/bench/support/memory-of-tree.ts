import { readdirSync, readFileSync } from 'node:fs';

/** The parent of each process on this machine. Linux only. */
const parents = (): ReadonlyMap<number, number> => {
  const found = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one)))
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      found.set(Number(name), Number(parent));
    } catch {
      // It has ended meanwhile.
    }
  return found;
};

/** A process and all that it has started, directly or not. */
export const treeOf = (root: number): readonly number[] => {
  const known = parents();
  const tree = [root];
  for (const pid of tree) tree.push(...[...known].flatMap(([child, parent]) => (parent === pid ? [child] : [])));
  return tree;
};

/** The memory of processes in MB; of memory that several share each has its part (PSS). One that has ended has none. */
export const memoryOf = (pids: readonly number[]): number => {
  const kilobytes = pids.map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1000;
};
