import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** Another user of this host, whom an agent runs as. */
export type HostUser = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
};

/** A line of passwd(5); null: it is not one. */
export const hostUserIn = (line: string): HostUser | null => {
  const found = /^([^:]+):[^:]*:(\d+):(\d+):[^:]*:([^:]*):([^:]*)$/.exec(line.trim());
  if (found === null) return null;
  const [, name = '', uid, gid, home = '', shell = ''] = found;
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/', shell: shell || '/bin/sh' };
};

/** getent has found no such entry. */
const NOT_FOUND = 2;

/** Also of a directory such as LDAP; null: this host has no user by that name. @throws errors of getent */
export const findHostUser = (name: string): HostUser | null => {
  try {
    return hostUserIn(execFileSync('getent', ['--', 'passwd', name], { encoding: 'utf8' }));
  } catch (error) {
    if ((error as { readonly status?: unknown }).status === NOT_FOUND) return null;
    throw error;
  }
};

/** As the user itself has them; its agents get no folder of the runtime's own user. */
const OF_A_USER = /^(?:HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|XDG_\w+)$/;

/** What an agent inherits, as this user; null: as the user of the runtime. */
export const environmentOfUser = (
  user: HostUser | null,
  inherited: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => {
  if (user === null) return inherited;
  const others = Object.entries(inherited).filter(([name]) => !OF_A_USER.test(name));
  const { name, home, shell } = user;
  return { ...Object.fromEntries(others), HOME: home, USER: name, LOGNAME: name, SHELL: shell };
};

/** This process has the groups of the user from now on, and so has what it starts; root keeps its rights. */
export const takeGroups = ({ name, gid }: HostUser): void => {
  // Node's own types do not have it.
  const { initgroups } = process as NodeJS.Process & { readonly initgroups?: (user: string, group: number) => void };
  if (initgroups === undefined) throw new Error('this system has no groups of users');
  initgroups(name, gid);
};

/**
 * The first of these paths that the user cannot reach, as a sentence; null: it reaches all. Only for a process that
 * does nothing else meanwhile: it acts as that user.
 */
export const unreachableFor = (user: HostUser, paths: readonly string[]): string | null => {
  takeGroups(user);
  process.setegid?.(user.gid);
  process.seteuid?.(user.uid);
  try {
    for (const path of paths) {
      try {
        statSync(path);
      } catch (error) {
        return `the user ${user.name} cannot reach ${path} (${(error as NodeJS.ErrnoException).code}): give it the right, or choose another folder`;
      }
    }
    return null;
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
};
