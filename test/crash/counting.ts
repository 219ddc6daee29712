import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, type LogRecord, partitionOf } from '@vigil/stream';
import type { Counted, WorkerPlan } from './worker.ts';

const KEYS = 50;
const PER_SECOND = 500;
const STEP_MS = 20;

/** `ends`: the number of unrequested ends */
export type Worker = {
  readonly send: (signal: NodeJS.Signals) => void;
  readonly end: () => Promise<void>;
  readonly ends: () => number;
};

/** A worker that is restarted whenever it ends. */
export const startWorker = (name: string, plan: WorkerPlan, dir: string): Worker => {
  const output = createWriteStream(path.join(dir, `${name}.log`));
  let [ending, ends] = [false, 0];
  const start = () => {
    const file = path.join(import.meta.dirname, 'worker.ts');
    const child = spawn(process.execPath, [file, JSON.stringify(plan)], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.pipe(output, { end: false });
    child.stderr.pipe(output, { end: false });
    child.once('exit', () => {
      if (ending) return;
      ends += 1;
      setTimeout(() => (current = start()), 500);
    });
    return child;
  };
  let current = start();
  return {
    send: (signal) => void current.kill(signal),
    ends: () => ends,
    end: async () => {
      ending = true;
      const ended = new Promise((resolve) => current.once('exit', resolve));
      current.kill('SIGKILL');
      await ended;
      output.end();
    },
  };
};

/** The outcome of the writes: ids that the log has accepted, and those with an unknown outcome. */
export type Fed = { readonly acknowledged: readonly number[]; readonly unknown: readonly number[] };

/** Writes inputs until the signal, each with its own id. */
export const feed = async (log: Log, topic: string, signal: AbortSignal): Promise<Fed> => {
  const begun = performance.now();
  const [acknowledged, unknown]: [number[], number[]] = [[], []];
  let sent = 0;
  for (; !signal.aborted; await sleep(STEP_MS)) {
    const due = Math.floor(((performance.now() - begun) / 1000) * PER_SECOND) - sent;
    const ids = Array.from({ length: due }, (_, n) => sent + n);
    const records = ids.map((id) => {
      const key = `key-${id % KEYS}`;
      const value = Buffer.from(JSON.stringify({ type: 'INPUT', payload: { id } }));
      return { topic, partition: partitionOf(key, 4), key, value };
    });
    sent += due;
    if (due > 0)
      await log.write(records).then(
        () => acknowledged.push(...ids),
        () => unknown.push(...ids),
      );
  }
  return { acknowledged, unknown };
};

/** A record's key and payload. */
export type Read<T> = { readonly key: string; readonly payload: T };

export const readAll = async <T>(log: Log, topic: string): Promise<readonly Read<T>[]> => {
  const found: Read<T>[] = [];
  const read = ({ key, value }: LogRecord): void => {
    if (value !== null) found.push({ key: String(key), payload: JSON.parse(value.toString()).payload });
  };
  for (const [partition, range] of (await log.bounds(topic)).entries())
    await log.read(topic, partition, range, read, AbortSignal.timeout(60_000));
  return found;
};

/** `missing`: acknowledged, but not in the log; `repeated`: more than once in the log */
export const judgeInputs = ({ acknowledged }: Fed, inputs: readonly Read<{ readonly id: number }>[]) => {
  const there = new Set(inputs.map(({ payload: { id } }) => id));
  return { missing: acknowledged.filter((id) => !there.has(id)).length, repeated: inputs.length - there.size };
};

export type Outcome = {
  readonly inputs: number;
  readonly lost: number;
  readonly doubled: number;
  readonly wrong: number;
  readonly disordered: number;
};

/**
 * Checks that every id occurs once, and that the ids of a key are in the order of the inputs. Each key must count 1, 2,
 * 3 …, so that its state was restored correctly.
 */
export const judge = (inputs: readonly Read<{ readonly id: number }>[], written: readonly Read<Counted>[]): Outcome => {
  const places = new Map(inputs.map(({ payload: { id } }, place) => [id, place]));
  const times = new Map<number, number>();
  const last = new Map<string, { readonly place: number; readonly n: number }>();
  let [wrong, disordered] = [0, 0];
  for (const { key, payload } of written) {
    times.set(payload.id, (times.get(payload.id) ?? 0) + 1);
    const before = last.get(key) ?? { place: -1, n: 0 };
    const place = places.get(payload.id) ?? -1;
    if (payload.n !== before.n + 1) wrong += 1;
    if (place <= before.place) disordered += 1;
    last.set(key, { place, n: payload.n });
  }
  const lost = inputs.filter(({ payload: { id } }) => !times.has(id)).length;
  const doubled = [...times.values()].filter((count) => count > 1).length;
  return { inputs: inputs.length, lost, doubled, wrong, disordered };
};
