import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';
import { type Content, contentIn } from '../adapters/checkpoint-formats.ts';

/** The thread of content.ts: reports its start, parses its input, and reports the content. */
parentPort?.postMessage('begins');

const tryTo = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch {
    return null;
  }
};

const text = Buffer.from(workerData as Uint8Array).toString('utf8');

/** JSON first: it is the faster by far. */
const content: Content | null =
  tryTo(() => contentIn(JSON.parse(text))) ?? tryTo(() => contentIn(parse(text, { logLevel: 'error' })));

parentPort?.postMessage(content);
