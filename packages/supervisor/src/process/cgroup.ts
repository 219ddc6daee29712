import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Logger } from '../clock.ts';
import { ProcessesUnknown } from '../errors.ts';

/** Where each agent gets a cgroup (version 2) of its own. */
export type AgentCgroups =
  | {
      readonly kind: 'available';
      /** the folder in which theirs are made */
      readonly parent: string;
      /** null: `memory.max` can be set in them; else why it cannot */
      readonly withoutMemory: string | null;
    }
  | { readonly kind: 'unavailable'; readonly why: string };

/** mountinfo writes a space as \040 (proc(5)). */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** The folder of a process's cgroup, from its /proc/PID/cgroup and mountinfo; null: it has none that is visible here. */
export const cgroupFolderIn = (cgroups: string, mounts: string): string | null => {
  const own = /^0::(.*)$/m.exec(cgroups)?.[1];
  // A path with .. is outside the namespace of this process.
  if (own === undefined || own.split('/').includes('..')) return null;
  for (const mount of mounts.split('\n')) {
    const [fields = '', type = ''] = mount.split(' - ');
    if (!type.startsWith('cgroup2 ')) continue;
    const [root = '', mountPoint = ''] = fields.split(' ').slice(3, 5).map(unescaped);
    const below = relative(root, own);
    if (below.split('/')[0] !== '..') return join(mountPoint, below);
  }
  return null;
};

/**
 * systemd puts a service with `DelegateSubgroup=vigil-supervisor` into a cgroup of this name. Its parent then has no
 * process of its own, as the kernel demands of a cgroup that divides memory among its children.
 */
const SUBGROUP = 'vigil-supervisor';

const parentOf = (own: string): string => (basename(own) === SUBGROUP ? dirname(own) : own);

/** The folder of the cgroup that this process is in. @throws errors of the file system */
const ownFolder = (): string | null =>
  cgroupFolderIn(readFileSync('/proc/self/cgroup', 'utf8'), readFileSync('/proc/self/mountinfo', 'utf8'));

const moveInto = (folder: string): void => writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));

/**
 * Starts a process in this cgroup; null: in that of this process. What starts is in it from its first instruction,
 * because this process is in it meanwhile: a process that is moved later may have started others.
 * @throws why this process cannot be moved; then nothing is started
 */
export const startIn = <T>(cgroup: string | null, start: () => T): T => {
  if (cgroup === null) return start();
  const own = ownFolder();
  if (own === null) throw new Error('the cgroup of this process is not known: it could not leave that of the agent');
  moveInto(cgroup);
  try {
    return start();
  } finally {
    moveInto(own);
  }
};

/** Makes one, moves this process into it and back, and removes it. @throws why that is not possible */
const tryOne = (parent: string): void => {
  const folder = mkdtempSync(join(parent, 'vigil-probe-'));
  try {
    // Linux has it since 5.14.
    accessSync(join(folder, 'cgroup.kill'), constants.W_OK);
    startIn(folder, () => {});
  } finally {
    rmdirSync(folder);
  }
};

const wordsIn = (file: string): readonly string[] => readFileSync(file, 'utf8').split(/\s+/);

/** Lets the children of this cgroup have a limit of memory. Null: they can; else why they cannot. */
export const divideMemory = (parent: string): string | null => {
  const control = join(parent, 'cgroup.subtree_control');
  try {
    if (!wordsIn(join(parent, 'cgroup.controllers')).includes('memory'))
      return `${parent} has no memory controller: let systemd delegate it (Delegate=memory)`;
    if (!wordsIn(control).includes('memory')) writeFileSync(control, '+memory');
    return null;
  } catch (error) {
    // EBUSY: a cgroup that divides memory among children has no process of its own, and the supervisor is in this one.
    return `${parent} cannot divide memory (${String(error)}): put the supervisor into a cgroup ${SUBGROUP} below it (DelegateSubgroup=${SUBGROUP})`;
  }
};

const NAME = /^vigil-[0-9a-f]{16}$/;
/** A folder that is so old, milliseconds, and empty has had its process: no supervisor is about to move one into it. */
const ABANDONED_MS = 60_000;

/** An agent that has finished may leave processes, and they end later. */
export const removeAbandoned = (parent: string, now: number): void => {
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    const madeAt = NAME.test(name) ? statSync(folder, { throwIfNoEntry: false })?.ctimeMs : undefined;
    if (madeAt !== undefined && now - madeAt > ABANDONED_MS) removeCgroup(folder);
  }
};

/** Finds out whether this supervisor may make cgroups, by making one. `now`: epoch milliseconds. */
export const findCgroups = (now: number): AgentCgroups => {
  if (process.platform !== 'linux') return { kind: 'unavailable', why: 'only Linux has cgroups' };
  try {
    const own = ownFolder();
    if (own === null) return { kind: 'unavailable', why: 'no cgroup of version 2 is mounted here' };
    const parent = parentOf(own);
    tryOne(parent);
    removeAbandoned(parent, now);
    return { kind: 'available', parent, withoutMemory: divideMemory(parent) };
  } catch (error) {
    return { kind: 'unavailable', why: error instanceof Error ? error.message : String(error) };
  }
};

/** Where the cgroup of this instance is made; null: it gets none. */
export const cgroupOf = (cgroups: AgentCgroups, instanceId: string): string | null =>
  cgroups.kind === 'unavailable'
    ? null
    : join(cgroups.parent, `vigil-${createHash('sha256').update(instanceId).digest('hex').slice(0, 16)}`);

/** Above this number of bytes, the kernel kills all its processes at once. */
const limitMemory = (folder: string, bytes: number): void => {
  writeFileSync(join(folder, 'memory.max'), String(bytes));
  writeFileSync(join(folder, 'memory.oom.group'), '1');
};

/**
 * Makes the cgroup of an instance, with a limit of memory (bytes) where the kernel can hold one. Null: none could be
 * made; the log has the reason.
 */
export const makeCgroup = (
  cgroups: AgentCgroups,
  instanceId: string,
  memory: number | null,
  logger: Logger,
): string | null => {
  const folder = cgroupOf(cgroups, instanceId);
  if (folder === null || cgroups.kind === 'unavailable') return null;
  try {
    mkdirSync(folder);
  } catch (error) {
    logger('no cgroup can be made for an agent: its processes are found by their environment', {
      instanceId,
      error: String(error),
    });
    return null;
  }
  if (memory === null || cgroups.withoutMemory !== null) return folder;
  try {
    limitMemory(folder, memory);
  } catch (error) {
    logger('the kernel does not limit the memory of an agent: Vigil measures it', { instanceId, error: String(error) });
  }
  return folder;
};

/** Whether the kernel has killed a process of it because of its limit of memory. */
export const wasOutOfMemory = (folder: string): boolean => {
  try {
    return /^oom_kill [1-9]/m.test(readFileSync(join(folder, 'memory.events'), 'utf8'));
  } catch {
    return false;
  }
};

/** The file of a cgroup; null: the cgroup does not exist. @throws ProcessesUnknown: it does, and cannot be read */
const textIn = (folder: string, file: string): string | null => {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOTSUP: the cgroup holds threads, and the one above it names their processes.
    if (code === 'ENOENT' || code === 'ENODEV' || code === 'ENOTSUP') return null;
    throw new ProcessesUnknown(String(error));
  }
};

/** @throws ProcessesUnknown */
export const isCgroup = (folder: string): boolean => textIn(folder, 'cgroup.events') !== null;

/** Whether a process lives in it or in one below it. @throws ProcessesUnknown */
export const isPopulated = (folder: string): boolean =>
  /^populated 1$/m.test(textIn(folder, 'cgroup.events') ?? 'populated 0');

/** It and all below it, the deepest first: an agent may make some of its own. */
const foldersIn = (folder: string): readonly string[] => {
  try {
    const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...below.flatMap(({ name }) => foldersIn(join(folder, name))), folder];
  } catch {
    return [];
  }
};

/** @throws ProcessesUnknown */
export const processesIn = (folder: string): readonly number[] =>
  foldersIn(folder).flatMap((one) =>
    (textIn(one, 'cgroup.procs') ?? '')
      .split('\n')
      .map(Number)
      // 0: a process that is not visible from here
      .filter((pid) => pid > 0),
  );

/** Ends every process in it at once; none can leave it or start another meanwhile. */
export const killCgroup = (folder: string): void => {
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1');
  } catch {
    // It is gone, or is not ours any more: whether a process is left is asked afterwards.
  }
};

/** False: a process is left in it. */
export const removeCgroup = (folder: string): boolean => {
  try {
    if (isPopulated(folder)) return false;
    for (const one of foldersIn(folder)) rmdirSync(one);
    return true;
  } catch {
    return false;
  }
};
