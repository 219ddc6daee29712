import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HostUser } from '../process/host-user.ts';
import { type AgentSpec, handoverOf, spoolOf } from './agent-spec.ts';

/** A folder of root in which other users find what is theirs by its name, and cannot list the rest. */
const makePassage = (path: string): void => {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o711);
};

/**
 * Makes what an agent of another user shares with its supervisor: its spool, and a copy of its hand-over. The names are in
 * folders of root, so that the agent cannot put a link in the place of one.
 */
export const makeShared = (
  { instanceId, handover }: Pick<AgentSpec, 'instanceId' | 'handover'>,
  socketDir: string,
  { uid, gid }: HostUser,
): void => {
  const spool = spoolOf(socketDir, instanceId);
  makePassage(socketDir);
  makePassage(dirname(spool));
  mkdirSync(spool, { mode: 0o700 });
  chownSync(spool, uid, gid);
  if (handover === null) return;
  const copy = handoverOf(socketDir, instanceId);
  makePassage(dirname(copy));
  copyFileSync(handover, copy);
  chmodSync(copy, 0o400);
  chownSync(copy, uid, gid);
};

/** The content of the spool is removed by its user: root could be led elsewhere by a link. @throws errors of the file system */
export const removeShared = (
  { instanceId }: Pick<AgentSpec, 'instanceId'>,
  socketDir: string,
  { uid, gid }: HostUser,
): void => {
  const spool = spoolOf(socketDir, instanceId);
  rmSync(handoverOf(socketDir, instanceId), { force: true });
  spawnSync('/bin/rm', ['-rf', '--', spool], { uid, gid, stdio: 'ignore', env: {} });
  if (existsSync(spool)) rmdirSync(spool);
};
