import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { endLeftovers, endProcess } from './end-process.ts';
import { identify, isAlive } from './proc.ts';

/** Ends a process while no file can be opened, until the clock has been read a few times; prints what it observed. */
const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
await once(child, 'spawn');
const leader = identify(child.pid ?? 0);
const tree = { leader, socket: '/none', cgroup: null };

const taken: number[] = [];
const takeAll = () => {
  for (;;)
    try {
      taken.push(openSync('/dev/null', 'r'));
    } catch {
      return;
    }
};
const giveBack = () => {
  for (const file of taken.splice(0)) closeSync(file);
};
const thatRunsShort = () => {
  takeAll();
  let looks = 0;
  const monotonic = () => {
    looks += 1;
    if (looks === 4) giveBack();
    return performance.now();
  };
  return { now: () => Date.now(), monotonic };
};
const alive = () => {
  try {
    return String(isAlive(leader));
  } catch (error) {
    return (error as Error).name;
  }
};

takeAll();
const whileShort = alive();
giveBack();
const ending = await endProcess(tree, { graceMs: 0, killAfterMs: 60_000 }, thatRunsShort());
const left = await endLeftovers(tree, { ranMs: 0, killAfterMs: 60_000 }, thatRunsShort());
process.stdout.write(JSON.stringify({ whileShort, ending, afterwards: alive(), left }));
child.kill('SIGKILL');
