import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';
import type { Names } from './checkpoint-names.ts';

/** The thread of checkpoint-names.ts: what it is given, read; what tasks that names, said. */
const text = Buffer.from(workerData as Uint8Array).toString('utf8');

const tryTo = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** JSON first: it is the faster by far, and most checkpoints are. */
const document: unknown = tryTo(() => JSON.parse(text)) ?? tryTo(() => parse(text, { logLevel: 'error' }));

const namesOf = (found: unknown): Names | null => {
  if (found === undefined) return null;
  const { task_id, ticket_id, taskId } = (found ?? {}) as Readonly<Record<string, unknown>>;
  return [task_id, ticket_id, taskId].filter((name) => typeof name === 'string');
};

parentPort?.postMessage(namesOf(document));
