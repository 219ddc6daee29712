import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentCgroups, findCgroups, killCgroup, removeCgroup } from '../process/cgroup.ts';

type Available = Extract<AgentCgroups, { readonly kind: 'available' }>;

/** Real cgroups below one of their own, or why this machine has none. */
export type TestCgroups = { readonly cgroups: Available | null; readonly why: string; readonly close: () => void };

/** A machine with cgroups of version 1 may still mount those of version 2. */
const mounted = (): string | null => {
  const dir = mkdtempSync(join(tmpdir(), 'vigil-cgroup2-'));
  try {
    execFileSync('mount', ['-t', 'cgroup2', 'none', dir], { stdio: 'ignore' });
    return dir;
  } catch {
    rmdirSync(dir);
    return null;
  }
};

const unmount = (dir: string | null): void => {
  if (dir === null) return;
  execFileSync('umount', [dir]);
  rmdirSync(dir);
};

export const openTestCgroups = (): TestCgroups => {
  const here = findCgroups(0);
  const mount = here.kind === 'unavailable' && process.getuid?.() === 0 ? mounted() : null;
  const found = mount === null ? here : findCgroups(0);
  if (found.kind === 'unavailable') {
    unmount(mount);
    return { cgroups: null, why: `no cgroup can be made here: ${found.why}`, close: () => {} };
  }
  const parent = mkdtempSync(join(found.parent, 'vigil-test-'));
  const close = () => {
    killCgroup(parent);
    for (const end = Date.now() + 10_000; !removeCgroup(parent); )
      if (Date.now() > end) throw new Error(`${parent} is not empty`);
    unmount(mount);
  };
  return { cgroups: { ...found, parent }, why: '', close };
};
