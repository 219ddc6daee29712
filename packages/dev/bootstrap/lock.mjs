import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { report } from './command.mjs';

export const isAlive = (pid) => {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
};

const ownerOf = (lock) => {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return 0;
  }
};

const take = (lock) => {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
};

/** Runs one job at a time, also across processes: its lock is in the folder. A lock whose owner is gone is taken over. */
export const onceForAll = async (folder, name, done, work) => {
  if (done()) return;
  mkdirSync(folder, { recursive: true });
  const lock = path.join(folder, `${name}.lock`);
  for (let isReported = false; !take(lock); ) {
    const owner = ownerOf(lock);
    if (!isAlive(owner)) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!isReported) report(`waiting for process ${owner}, which is preparing the ${name}`);
    isReported = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    if (!done()) await work();
  } finally {
    rmSync(lock, { force: true });
  }
};
