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

/** Starts it and waits until it serves. Rejects with its last output if it ends before that. */
export const startDaemon = async (daemon: Daemon): Promise<void> => {
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
    const what = living ? `was not ready after ${READY_LIMIT_MS / 1000} s` : 'ended while it started';
    throw new Refusal(`${daemon.name} ${what}; see ${logPath}, which ends with:\n${lastLines(written(), 8)}`);
  }
};

export const stopDaemon = (daemon: Daemon): Promise<void> => endProcess(daemon.dir, daemon.name, daemon.stopWith);

/** Sends a signal; after SIGKILL it waits until the process is gone. */
export const killDaemon = async (daemon: Daemon, signal: NodeJS.Signals): Promise<void> => {
  const pid = livingPid(daemon.dir, daemon.name);
  if (pid === null) return;
  if (signal === 'SIGKILL') await endProcess(daemon.dir, daemon.name, 'SIGKILL');
  else sendSignal(pid, signal);
};
