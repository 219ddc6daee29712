import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  AlreadySupervised,
  checkFree,
  connectGateway,
  occupantOf,
  openStateDir,
  type Supervised,
  WrongSettings,
} from '@vigil/supervisor';
import { addressOf, clock, stateDir, stderrLogger } from '../../supervising.ts';
import { show } from '../../terminal.ts';
import { reachBeforeStart } from './run-reach.ts';
import {
  environmentFrom,
  noteAssignment,
  noteSilence,
  noteWithheld,
  noticeOnStderr,
  noticesOnStderr,
  type RunOptions,
  wantedOf,
} from './run-spec.ts';

/** What the supervisor in the background reports to its starter: one line. */
type Started = { readonly instanceId: string; readonly pid: number; readonly supervisor: number };

const sizeHere = (): readonly string[] => {
  const { columns, rows } = process.stdout;
  return process.stdout.isTTY ? ['--columns', String(columns), '--rows', String(rows)] : [];
};

export const reportStarted = (fd: number, { spec, terminal }: Supervised): void => {
  const started: Started = { instanceId: spec.instanceId, pid: terminal.pid.pid, supervisor: process.pid };
  try {
    writeSync(fd, JSON.stringify(started));
    closeSync(fd);
  } catch {
    // the starter may be gone by now; the agent runs, and is supervised
  }
};

/** This very command once more, in a session of its own, with the agent's log as its output. */
const launch = (logFile: string): Promise<string> => {
  const out = openSync(logFile, 'a', 0o600);
  const [, program = '', , ...rest] = process.argv;
  const args = [...process.execArgv, program, 'run', '--ready-fd', '3', ...sizeHere(), ...rest];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', out, out, 'pipe'] });
  closeSync(out);
  child.unref();
  return text(child.stdio[3] as Readable);
};

const checkOrphan = (dir: string, name: string): void => {
  if (occupantOf(dir, name) === null)
    throw new WrongSettings(`nothing of ${name} is left to supervise: write what to run after --`);
};

const checkSupervised = (dir: string, name: string): void => {
  try {
    checkFree(dir, name);
  } catch (error) {
    // without a supervisor it is what this command is for
    if (!(error instanceof AlreadySupervised) || error.isSupervised) throw error;
  }
};

/** @throws AlreadySupervised, WrongSettings; and where the supervisor in the background does not start */
export const startDetached = async (args: readonly string[], options: RunOptions): Promise<void> => {
  const { name, json } = options;
  const dir = stateDir(options);
  if (args.length > 0) checkFree(dir, name);
  else {
    checkOrphan(dir, name);
    checkSupervised(dir, name);
  }
  openStateDir(dir);
  noteSilence(args);
  noteWithheld(environmentFrom(options), dir);
  const gateway = connectGateway(addressOf(options, stderrLogger), clock);
  const reach = await reachBeforeStart(gateway, wantedOf(options));
  noticesOnStderr(options.gateway, noticeOnStderr()).note(reach);
  if (reach.kind === 'watched') await noteAssignment(gateway, options);
  mkdirSync(join(dir, 'logs'), { recursive: true, mode: 0o700 });
  const log = join(dir, 'logs', `${name}.log`);
  const reported = await launch(log);
  if (reported === '')
    throw new WrongSettings(`the supervisor of ${name} did not start; the end of ${log} has the reason`);
  const { instanceId, pid, supervisor } = JSON.parse(reported) as Started;
  const where = options.dir === undefined ? '' : ` --dir ${options.dir}`;
  const [attach, stop] = [`vigil attach ${name}${where}`, `vigil stop ${name}${where}`];
  show(json, { agent: name, instance_id: instanceId, pid, supervisor_pid: supervisor, attach, stop, log }, () => [
    `${name} runs in the background: process ${pid}, supervisor ${supervisor}`,
    `  look at it: ${attach}`,
    `  end it:     ${stop}`,
    `  log:        ${log} (its lines also show when Vigil stops watching it, and watches it again)`,
  ]);
};
