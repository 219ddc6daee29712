import { Worker } from 'node:worker_threads';

/** A process whose event loop is blocked for this long is ended, to be started again. Milliseconds. */
export const FROZEN_AFTER_MS = 30_000;
/** The worker looks this often within the limit. It counts its looks, because a process that is stopped has no time. */
const LOOKS = 30;

/** The worker's own loop turns while that of the process is blocked. Only SIGKILL ends such a process. */
const WATCHING = `
const { workerData: { turns, everyMs, looks, service, limitS } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
let before = -1;
let still = 0;
setInterval(() => {
  const now = Atomics.load(turns, 0);
  still = now === before ? still + 1 : 0;
  before = now;
  if (still < looks) return;
  const msg = 'the event loop was blocked for ' + limitS + ' s; the process ends so that it is started again';
  writeSync(1, JSON.stringify({ level: 60, time: new Date().toISOString(), service, msg }) + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, everyMs);
`;

/** Ends this process where its event loop is blocked for `limitMs`. The last line of its log names the reason. */
export const endWhenFrozen = (service: string, limitMs: number): AsyncDisposable => {
  const everyMs = limitMs / LOOKS;
  const turns = new Int32Array(new SharedArrayBuffer(4));
  const timer = setInterval(() => Atomics.add(turns, 0, 1), everyMs / 2);
  timer.unref();
  const workerData = { turns, everyMs, looks: LOOKS, service, limitS: limitMs / 1000 };
  const worker = new Worker(WATCHING, { eval: true, workerData, env: {}, execArgv: [] });
  worker.unref();
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await worker.terminate();
    },
  };
};
