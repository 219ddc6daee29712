import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';
import type { Content } from './checkpoint-content.ts';

/** The thread of checkpoint-content.ts: what it is given, read; what that says of itself, said. */
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

const contentOf = (found: unknown): Content | null => {
  if (found === undefined) return null;
  const { task_id, ticket_id, taskId, schema_version } = (found ?? {}) as Readonly<Record<string, unknown>>;
  const names = [task_id, ticket_id, taskId].filter((name) => typeof name === 'string');
  return { names, schema: schema_version === undefined ? null : String(schema_version).slice(0, 32) };
};

parentPort?.postMessage(contentOf(document));
