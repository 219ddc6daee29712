import { type MachineClock, pause } from '../clock.ts';
import { killCgroup } from './cgroup.ts';
import {
  groupOf,
  ifKnown,
  isAlive,
  isGone,
  leftoversOf,
  type Pid,
  signalled,
  sourceOf,
  type Tree,
  type TreeSource,
  treeOf,
} from './proc.ts';

/** `confirmed`: no process of its tree is left. `forced`: it took SIGKILL. `by`: how the tree was found. */
export type Ending = { readonly confirmed: boolean; readonly forced: boolean; readonly by: TreeSource };

/** How patient an ending is, milliseconds: with a process that was asked to leave, then with one that received SIGTERM. */
export type Patience = { readonly graceMs: number; readonly killAfterMs: number };

/** Killed processes are gone within this time, or not at all. */
const GONE_WITHIN_MS = 5000;
const LOOK_EVERY_MS = 50;
/** The hangup of a terminal ends processes within this time, if at all. */
const HANG_UP_MS = 250;

/** What cannot be seen is not over, and is looked at again. */
const wait = async (over: () => boolean, withinMs: number, clock: MachineClock): Promise<boolean> => {
  const deadline = clock.monotonic() + withinMs;
  while (!ifKnown(over, false)) {
    if (clock.monotonic() >= deadline) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
};

/** Another process with the same number means that the agent's process is long gone. */
const isAnotherProcess = (pid: Pid): boolean => !isAlive(pid) && isAlive({ ...pid, startTime: null });

/**
 * A stopped process receives no SIGTERM before it is continued. Processes outside the leader's group are signalled
 * one by one.
 */
const askToEnd = (tree: Tree): void => {
  const { leader } = tree;
  const members = treeOf(tree);
  for (const signal of ['SIGTERM', 'SIGCONT'] as const) {
    if (!isAnotherProcess(leader)) signalled(-leader.pid, signal);
    for (const member of members) if (groupOf(member) !== leader.pid) signalled(member, signal);
  }
};

/** The same, once: as soon as the tree can be looked at. True: it is gone. */
const goneWhenAsked = (tree: Tree): (() => boolean) => {
  let isAsked = false;
  return () => {
    if (!isAsked) askToEnd(tree);
    isAsked = true;
    return isGone(tree);
  };
};

/**
 * Ends a process and all that it started, including processes outside its session. It has `graceMs` to exit by itself
 * (it has been requested to), then its tree receives SIGTERM, and SIGKILL `killAfterMs` later.
 * Resolves when all are dead, or 5 s after that. A process whose state cannot be read is not dead.
 */
export const endProcess = async (
  tree: Tree,
  { graceMs, killAfterMs }: Patience,
  clock: MachineClock,
): Promise<Ending> => {
  // Before its end: a cgroup that is removed meanwhile was empty.
  const by = ifKnown(() => sourceOf(tree), 'environment');
  await wait(() => !isAlive(tree.leader), graceMs, clock);
  if (ifKnown(() => isGone(tree), false)) return { confirmed: true, forced: false, by };
  if (await wait(goneWhenAsked(tree), killAfterMs, clock)) return { confirmed: true, forced: false, by };
  return { confirmed: await wait(() => treeIsKilled(tree), GONE_WITHIN_MS, clock), forced: true, by };
};

/** Processes that were started while the others were killed are killed, too. */
const treeIsKilled = (tree: Tree): boolean => {
  if (isGone(tree)) return true;
  if (tree.cgroup !== null) killCgroup(tree.cgroup);
  for (const member of treeOf(tree)) signalled(member, 'SIGKILL');
  return false;
};

/**
 * Ends what a process that ran for so long, and has ended, left running: SIGTERM, then SIGKILL `killAfterMs` later.
 * Returns what became of it; null: nothing was left.
 */
export const endLeftovers = async (
  tree: Tree,
  { ranMs, killAfterMs }: { readonly ranMs: number; readonly killAfterMs: number },
  clock: MachineClock,
): Promise<string | null> => {
  const isEmpty = () => isGone(tree);
  let left: readonly number[] | null = null;
  const look = () => {
    left = leftoversOf(tree, ranMs);
    return true;
  };
  if (!(await wait(look, GONE_WITHIN_MS, clock))) return 'what it left running could not be looked for';
  if ((left ?? []).length === 0 || (await wait(isEmpty, HANG_UP_MS, clock))) return null;
  const ended = 'what it left running has been ended';
  if (await wait(goneWhenAsked(tree), killAfterMs, clock)) return ended;
  return (await wait(() => treeIsKilled(tree), GONE_WITHIN_MS, clock))
    ? ended
    : 'SIGKILL did not end what it left running';
};
