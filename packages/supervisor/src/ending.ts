import { type MachineClock, pause } from './clock.ts';
import { isAlive, leftOf, type Pid, sessionOf, signalled } from './proc.ts';

/** `confirmed`: nothing of its session runs any more. `forced`: it took SIGKILL. */
export type Ending = { readonly confirmed: boolean; readonly forced: boolean };

/** How patient an ending is, milliseconds: with a process that was asked to leave, then with one that received SIGTERM. */
export type Patience = { readonly graceMs: number; readonly killAfterMs: number };

/** The killed are gone within so long, or not at all. */
const goneWithinMs = 5000;
const lookEveryMs = 50;
/** The hangup of a terminal ends what it ends within so long. */
const hangUpMs = 250;

const wait = async (over: () => boolean, withinMs: number, clock: MachineClock): Promise<boolean> => {
  const deadline = clock.monotonic() + withinMs;
  while (!over()) {
    if (clock.monotonic() >= deadline) return false;
    await pause(lookEveryMs);
  }
  return true;
};

/** Another process by the same number means that ours, and its session, are long gone. */
const isGone = (pid: Pid): boolean => !isAlive(pid) && (isSomebodyElse(pid) || sessionOf(pid.pid).length === 0);
const isSomebodyElse = ({ pid, startTime }: Pid): boolean => startTime !== null && isAlive({ pid, startTime: null });

/** A stopped process takes no SIGTERM before it is continued. */
const askToEnd = ({ pid }: Pid): void => {
  signalled(-pid, 'SIGTERM');
  signalled(-pid, 'SIGCONT');
};

const killAll = ({ pid }: Pid): void => {
  signalled(-pid, 'SIGKILL');
  for (const member of sessionOf(pid)) signalled(member, 'SIGKILL');
};

/**
 * Ends a process and all that it started: it has `graceMs` to leave by itself (it has been asked to), then SIGTERM goes
 * to its group, and SIGKILL `killAfterMs` later to its whole session. Comes back when all are dead, or 5 s after that.
 */
export const endProcess = async (
  pid: Pid,
  { graceMs, killAfterMs }: Patience,
  clock: MachineClock,
): Promise<Ending> => {
  if (isSomebodyElse(pid) && !isAlive(pid)) return { confirmed: true, forced: false };
  await wait(() => !isAlive(pid), graceMs, clock);
  if (isGone(pid)) return { confirmed: true, forced: false };
  askToEnd(pid);
  if (await wait(() => isGone(pid), killAfterMs, clock)) return { confirmed: true, forced: false };
  killAll(pid);
  return { confirmed: await wait(() => isGone(pid), goneWithinMs, clock), forced: true };
};

/**
 * Ends what a process that ran for so long, and has ended, left running: SIGTERM, then SIGKILL `killAfterMs` later. Says what
 * became of it; null: nothing was left.
 */
export const endLeft = async (
  pid: Pid,
  { ranMs, killAfterMs }: { readonly ranMs: number; readonly killAfterMs: number },
  clock: MachineClock,
): Promise<string | null> => {
  const isEmpty = () => sessionOf(pid.pid).length === 0;
  if (leftOf(pid, ranMs).length === 0 || (await wait(isEmpty, hangUpMs, clock))) return null;
  const ended = 'what it left running has been ended';
  askToEnd(pid);
  if (await wait(isEmpty, killAfterMs, clock)) return ended;
  killAll(pid);
  return (await wait(isEmpty, goneWithinMs, clock)) ? ended : 'SIGKILL did not end what it left running';
};
