import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseLine } from '@vigil/adapters/payload';
import { ID, ID_FORM } from '@vigil/events';
import { AlreadySupervised, WrongSettings } from '../errors.ts';
import { ifKnown, isAlive, type Pid } from '../process/proc.ts';
import { removeIfPossible } from './own-folder.ts';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const textOf = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
};

/** The content of this lock file; null: there is none. @throws WrongSettings where it contains something else */
export const readLockFile = <T>(path: string, isOne: (found: object) => found is T & object): T | null => {
  const text = textOf(path);
  if (text === null) return null;
  const found = parseLine(text);
  if (found !== null && isOne(found)) return found;
  throw new WrongSettings(
    `${path} is not a Vigil lock file: remove it once you are sure that no agent runs under its name`,
  );
};

const draftOf = (path: string, content: object): string => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, JSON.stringify(content), { flush: true, mode: 0o600 });
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
  return draft;
};

const DRAFT_NAME = /\.lock\.(\d+)(\.dead)?$/;

const writerOf = (name: string): number | null => {
  const pid = DRAFT_NAME.exec(name)?.[1];
  return pid === undefined ? null : Number(pid);
};

/** Removes what processes that died while they wrote a lock have left. */
export const removeLockDrafts = (dir: string): void => {
  for (const folder of [join(dir, 'agents'), join(dir, 'runtimes')]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) {
      const pid = writerOf(name);
      if (pid !== null && !ifKnown(() => isAlive({ pid, startTime: null }), true)) removeIfPossible(join(folder, name));
    }
  }
};

/** Linking fails where the name is taken, so of two that try at once only one wins. */
const link = (from: string, path: string): boolean => {
  try {
    linkSync(from, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(from);
  }
};

/** Removes the lock file of a dead process; a lock that another process has taken meanwhile is put back. */
const sweep = (path: string, dead: object): void => {
  const aside = `${path}.${process.pid}.dead`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (textOf(aside) === JSON.stringify(dead)) rmSync(aside);
  else link(aside, path);
};

/** Takes a lock file that does not exist, or that `dead` has left. False: another process was first. */
export const createLockFile = (path: string, content: object, dead: object | null): boolean => {
  const draft = draftOf(path, content);
  if (dead !== null) sweep(path, dead);
  return link(draft, path);
};

/** Replaces the content of one's own lock file. */
export const replaceLockFile = (path: string, content: object): void => renameSync(draftOf(path, content), path);

/** The occupant of an agent's name on this host. */
export type Occupant = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: string | null;
  readonly runtimeId: string;
  readonly attempt: number;
  /** the spawn order it was started by; null: by hand or by configuration */
  readonly orderId: string | null;
  readonly supervisor: Pid;
  /** the process that owns its terminal; null: its supervisor does, or none was started yet */
  readonly ptyHost: Pid | null;
  /** null: not started yet */
  readonly child: Pid | null;
  /** the folder of its cgroup, once it is made; null: it has none */
  readonly cgroup: string | null;
  /** the person or signal that requested its end at this host; null: its end was not requested here */
  readonly endRequestedBy: string | null;
};

export type Lock = {
  /** on the disk when it returns */
  readonly has: (facts: Partial<Pick<Occupant, 'ptyHost' | 'child' | 'endRequestedBy'>>) => void;
  readonly release: () => void;
};

const folder = (dir: string): string => join(dir, 'agents');
const fileOf = (dir: string, agentId: string): string => join(folder(dir), `${agentId}.lock`);

const isOccupant = (found: object): found is Occupant =>
  ['agentId', 'instanceId', 'runtimeId', 'supervisor'].every((field) => field in found);

/** The occupant of this name, dead or alive; null: there is none. @throws WrongSettings where the file is not a Vigil lock */
export const occupantOf = (dir: string, agentId: string): Occupant | null => {
  const found = readLockFile(fileOf(dir, agentId), isOccupant);
  // The lock of an agent that a supervisor without cgroups has started does not have the field.
  return found && { ...found, cgroup: found.cgroup ?? null };
};

/** @throws WrongSettings for a name that no file and no key can have */
export const checkName = (agentId: string): void => {
  if (!ID.test(agentId)) throw new WrongSettings(`${JSON.stringify(agentId)} is not an agent's name: use ${ID_FORM}`);
};

const isTaken = ({ supervisor, ptyHost, child }: Occupant): boolean =>
  [supervisor, ptyHost, child].some((process) => process != null && isAlive(process));

const refused = ({ agentId, supervisor, ptyHost, child }: Occupant): AlreadySupervised => {
  if (isAlive(supervisor) || ptyHost === null || !isAlive(ptyHost))
    return new AlreadySupervised(
      `agent ${agentId} runs already (supervisor ${supervisor.pid}, process ${child?.pid ?? 'not started'}); choose another --name, or end it first`,
    );
  return new AlreadySupervised(
    `agent ${agentId} still runs (process ${child?.pid ?? 'not known'}), but its supervisor ${supervisor.pid} has died: start its runtime again, or, where it was run by hand, vigil run --detach --name ${agentId}`,
    false,
  );
};

/** @throws AlreadySupervised where this name is taken */
export const checkFree = (dir: string, agentId: string): void => {
  const occupant = occupantOf(dir, agentId);
  if (occupant && isTaken(occupant)) throw refused(occupant);
};

const lockOf = (path: string, first: Occupant): Lock => {
  let occupant = first;
  return {
    has: (facts) => {
      occupant = { ...occupant, ...facts };
      replaceLockFile(path, occupant);
    },
    release: () => rmSync(path, { force: true }),
  };
};

/**
 * Takes an agent's name, so that two supervisors never run it.
 * @throws WrongSettings for a name that no file and no key can have; AlreadySupervised while its supervisor, or a process that a dead one left, is alive
 */
export const takeName = (dir: string, occupant: Occupant): Lock => {
  checkName(occupant.agentId);
  checkFree(dir, occupant.agentId);
  const path = fileOf(dir, occupant.agentId);
  if (!createLockFile(path, occupant, occupantOf(dir, occupant.agentId)))
    throw new AlreadySupervised(`agent ${occupant.agentId} has just been started by another supervisor`);
  return lockOf(path, occupant);
};

/** Retakes the name of an agent whose PTY host has accepted this supervisor. A PTY host accepts one at a time. */
export const retakeName = (dir: string, occupant: Occupant): Lock => {
  const lock = lockOf(fileOf(dir, occupant.agentId), occupant);
  lock.has({});
  return lock;
};

/** The names of agents that are taken here, by a living or a dead supervisor. */
export const namesIn = (dir: string): readonly string[] => {
  mkdirSync(folder(dir), { recursive: true, mode: 0o700 });
  return readdirSync(folder(dir))
    .filter((name) => name.endsWith('.lock'))
    .map((name) => name.slice(0, -'.lock'.length));
};

/** What a supervisor of this runtime left behind when it died. */
export const orphansOf = (dir: string, runtimeId: string): readonly Occupant[] =>
  namesIn(dir)
    .flatMap((name) => occupantOf(dir, name) ?? [])
    .filter((occupant) => occupant.runtimeId === runtimeId && !isAlive(occupant.supervisor));

export const forget = (dir: string, agentId: string): void => rmSync(fileOf(dir, agentId), { force: true });

/**
 * One process alone is this runtime here, and writes its journal. Gives what lets it go.
 * @throws AlreadySupervised
 */
export const takeRuntime = (dir: string, runtimeId: string, self: Pid): (() => void) => {
  const path = join(dir, 'runtimes', `${runtimeId}.lock`);
  const before = readLockFile(path, (found): found is { readonly supervisor: Pid } => 'supervisor' in found);
  // After a restart in a container another process may have had the same number.
  const isOwn = before?.supervisor.pid === self.pid && before.supervisor.startTime === self.startTime;
  if (before !== null && !isOwn && isAlive(before.supervisor))
    throw new AlreadySupervised(
      `runtime ${runtimeId} runs already on ${dir} (process ${before.supervisor.pid}); end that one first, or give this one another name`,
    );
  if (!isOwn && !createLockFile(path, { supervisor: self }, before))
    throw new AlreadySupervised(`runtime ${runtimeId} has just been started by another process`);
  return () => rmSync(path, { force: true });
};
