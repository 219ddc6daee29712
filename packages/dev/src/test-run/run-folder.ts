import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { stateDir } from '../paths.ts';
import { livingPid, writePid } from '../processes/pid-file.ts';
import { makePrivateFolder } from '../servers/kept-secret.ts';
import { endLeftServers } from '../servers/local.ts';

const OWNER = 'npm-test';

/** Logs of the servers of the last run that failed. */
export const failedLogs = path.join(stateDir, 'failed-test-logs');

const remove = async (dir: string): Promise<void> => {
  await endLeftServers(dir);
  rmSync(dir, { recursive: true, force: true });
};

const folders = (): readonly string[] =>
  readdirSync(stateDir)
    .filter((name) => /^test-\d+$/.test(name))
    .map((name) => path.join(stateDir, name));

/** A folder for this run only. It removes the folders of killed runs, and ends their servers. */
export const openRunFolder = async (): Promise<string> => {
  makePrivateFolder(stateDir);
  for (const dir of folders()) if (livingPid(dir, OWNER) === null) await remove(dir);
  const dir = path.join(stateDir, `test-${process.pid}`);
  writePid(dir, OWNER, process.pid);
  return dir;
};

export const closeRunFolder = async (dir: string, failed: boolean): Promise<void> => {
  rmSync(failedLogs, { recursive: true, force: true });
  const logs = path.join(dir, 'logs');
  if (failed && existsSync(logs)) cpSync(logs, failedLogs, { recursive: true });
  await remove(dir);
};
