import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AlreadySupervised, WrongSettings } from './errors.ts';
import { isAlive, type Pid } from './proc.ts';

/** Who runs an agent's name on this host. */
export type Holder = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: string | null;
  readonly runtimeId: string;
  readonly attempt: number;
  /** the spawn order it was started by; null: by hand or by configuration */
  readonly orderId: string | null;
  readonly supervisor: Pid;
  /** null: not started yet */
  readonly child: Pid | null;
};

export type Lock = {
  readonly started: (child: Pid) => void;
  readonly release: () => void;
};

const folder = (dir: string): string => join(dir, 'agents');
const fileOf = (dir: string, agentId: string): string => join(folder(dir), `${agentId}.lock`);

const read = (path: string): Holder | null => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return null;
  }
};

/** The holder of this name, dead or alive; null: nobody. */
export const holderOf = (dir: string, agentId: string): Holder | null => read(fileOf(dir, agentId));

const write = (path: string, holder: Holder): string => {
  const draft = `${path}.${holder.supervisor.pid}`;
  writeFileSync(draft, JSON.stringify(holder), { flush: true });
  return draft;
};

/** Linking fails where the name is taken, so of two that try at once only one wins. */
const link = (draft: string, path: string): boolean => {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft);
  }
};

/** @throws WrongSettings for a name that no file and no key can have */
export const checkName = (agentId: string): void => {
  if (!/^[A-Za-z0-9._:-]{1,128}$/.test(agentId))
    throw new WrongSettings(
      `${JSON.stringify(agentId)} is no agent's name: use at most 128 letters, digits, dots, dashes, colons or underscores`,
    );
};

/**
 * Takes an agent's name, so that two supervisors never run it.
 * @throws WrongSettings for a name that no file and no key can have; AlreadySupervised while its holder, or the process that a dead holder left, is alive
 */
export const takeName = (dir: string, holder: Holder): Lock => {
  checkName(holder.agentId);
  mkdirSync(folder(dir), { recursive: true });
  const path = fileOf(dir, holder.agentId);
  const before = read(path);
  if (before && (isAlive(before.supervisor) || (before.child && isAlive(before.child))))
    throw new AlreadySupervised(
      `agent ${holder.agentId} runs already (supervisor ${before.supervisor.pid}, process ${before.child?.pid ?? 'not started'}); choose another --name, or end it first`,
    );
  if (before) rmSync(path, { force: true });
  if (!link(write(path, holder), path))
    throw new AlreadySupervised(`agent ${holder.agentId} has just been started by another supervisor`);
  return {
    started: (child) => renameSync(write(path, { ...holder, child }), path),
    release: () => rmSync(path, { force: true }),
  };
};

/** What a supervisor of this runtime left behind when it died. */
export const orphansOf = (dir: string, runtimeId: string): readonly Holder[] => {
  mkdirSync(folder(dir), { recursive: true });
  return readdirSync(folder(dir))
    .filter((name) => name.endsWith('.lock'))
    .flatMap((name) => read(join(folder(dir), name)) ?? [])
    .filter((holder) => holder.runtimeId === runtimeId && !isAlive(holder.supervisor));
};

export const forget = (dir: string, agentId: string): void => rmSync(fileOf(dir, agentId), { force: true });
