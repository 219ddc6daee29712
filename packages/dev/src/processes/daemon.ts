import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../servers/refusal.ts';
import { endProcess, livingPid, sendSignal, writePid } from './pid-file.ts';

/** A server process of Vigil. All later facts of it are in `dir`: `run/<name>.pid`, `logs/<name>.log`. */
export type Daemon = {
  readonly name: string;
  readonly dir: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly stopWith: NodeJS.Signals;
  /** called again and again until true, with its output since this start */
  readonly isReady: (written: string) => boolean | Promise<boolean>;
};

const READY_LIMIT_MS = 180_000;

export const logFile = ({ dir, name }: Pick<Daemon, 'dir' | 'name'>): string => path.join(dir, 'logs', `${name}.log`);

const launch = (daemon: Daemon): ChildProcess => {
  const log = openSync(logFile(daemon), 'a');
  // Detached: Ctrl-C must not reach a server before the services that still write to it.
  const child = spawn(daemon.command, daemon.args, {
    cwd: daemon.cwd,
    env: { ...process.env, ...daemon.env },
    ...daemon.user,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  child.once('error', () => undefined);
  return child;
};

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const lastLines = (text: string): string => text.trim().split('\n').slice(-8).join('\n');

/** Starts it and waits until it serves; rejects with its last words when it ends before that. */
export const startDaemon = async (daemon: Daemon): Promise<void> => {
  const log = logFile(daemon);
  mkdirSync(path.dirname(log), { recursive: true });
  const from = sizeOf(log);
  const child = launch(daemon);
  if (child.pid === undefined)
    throw new Refusal(`${daemon.command} could not be started: is it installed and in PATH?`);
  writePid(daemon.dir, daemon.name, child.pid);
  const written = (): string => readFileSync(log).subarray(from).toString();
  for (const late = AbortSignal.timeout(READY_LIMIT_MS); !(await daemon.isReady(written())); await sleep(25)) {
    const living = livingPid(daemon.dir, daemon.name) !== null;
    if (living && !late.aborted) continue;
    await stopDaemon(daemon);
    const what = living ? `was not ready after ${READY_LIMIT_MS / 1000} s` : 'ended while it started';
    throw new Refusal(`${daemon.name} ${what}; see ${log}, which ends with:\n${lastLines(written())}`);
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
