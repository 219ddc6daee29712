import type { ChildProcess } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../refusal.ts';
import { endProcess, lastLines, launch, livingPid, logFile, type ProcessSpec, sendSignal } from './pid-file.ts';

/** A server process of Vigil. */
export type Daemon = ProcessSpec & {
  readonly stopWith: NodeJS.Signals;
  /** called repeatedly until it returns true, with the output since this start */
  readonly isReady: (written: string) => boolean | Promise<boolean>;
};

const READY_LIMIT_MS = 180_000;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** How a process that has ended came to its end: the exit code or the name of the signal; null while it runs. */
export const endOf = ({ exitCode, signalCode }: ChildProcess): string | null =>
  signalCode ?? (exitCode === null ? null : `exit code ${exitCode}`);

/** A process is gone for the system a moment before its exit code is known here. */
const untilReaped = async (child: ChildProcess): Promise<void> => {
  for (const late = AbortSignal.timeout(5_000); endOf(child) === null && !late.aborted; ) await sleep(5);
};

/** Starts it and waits until it serves. Rejects with its last output if it ends before that. */
export const startDaemon = async (daemon: Daemon): Promise<ChildProcess> => {
  const logPath = logFile(daemon);
  const from = sizeOf(logPath);
  const child = launch(daemon);
  child.unref();
  child.once('error', () => undefined);
  if (child.pid === undefined)
    throw new Refusal(`${daemon.command} could not be started: is it installed and in PATH?`);
  const written = (): string => readFileSync(logPath).subarray(from).toString();
  for (const late = AbortSignal.timeout(READY_LIMIT_MS); !(await daemon.isReady(written())); await sleep(25)) {
    const living = livingPid(daemon.dir, daemon.name) !== null;
    if (living && !late.aborted) continue;
    await stopDaemon(daemon);
    await untilReaped(child);
    const ended = `ended while it started (${endOf(child) ?? 'its exit code is not known'})`;
    const what = living ? `was not ready after ${READY_LIMIT_MS / 1000} s` : ended;
    throw new Refusal(`${daemon.name} ${what}; see ${logPath}, which ends with:\n${lastLines(written(), 8)}`);
  }
  return child;
};

export const stopDaemon = (daemon: Daemon): Promise<void> => endProcess(daemon.dir, daemon.name, daemon.stopWith);

/** Sends a signal; after SIGKILL it waits until the process is gone. */
export const killDaemon = async (daemon: Daemon, signal: NodeJS.Signals): Promise<void> => {
  const pid = livingPid(daemon.dir, daemon.name);
  if (pid === null) return;
  if (signal === 'SIGKILL') await endProcess(daemon.dir, daemon.name, 'SIGKILL');
  else sendSignal(pid, signal);
};
