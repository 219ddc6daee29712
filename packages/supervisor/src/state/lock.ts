import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ID, ID_FORM } from '@vigil/events';
import { AlreadySupervised, WrongSettings } from '../errors.ts';
import { isAlive, type Pid } from '../process/proc.ts';
import { createLockFile, readLockFile, removeDrafts, replaceLockFile } from './lock-file.ts';

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
export const occupantOf = (dir: string, agentId: string): Occupant | null =>
  readLockFile(fileOf(dir, agentId), isOccupant);

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

/** What a supervisor of this runtime left behind when it died. */
export const orphansOf = (dir: string, runtimeId: string): readonly Occupant[] => {
  mkdirSync(folder(dir), { recursive: true, mode: 0o700 });
  return readdirSync(folder(dir))
    .filter((name) => name.endsWith('.lock'))
    .flatMap((name) => occupantOf(dir, name.slice(0, -'.lock'.length)) ?? [])
    .filter((occupant) => occupant.runtimeId === runtimeId && !isAlive(occupant.supervisor));
};

export const forget = (dir: string, agentId: string): void => rmSync(fileOf(dir, agentId), { force: true });

/** Removes what processes that died while they wrote a lock have left. */
export const removeLockDrafts = (dir: string): void => {
  for (const one of ['agents', 'runtimes']) removeDrafts(join(dir, one));
};

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
