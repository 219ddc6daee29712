import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe } from 'vitest';
import { groupContract } from '../log/group.contract.ts';
import { logContract } from '../log/log.contract.ts';
import type { Subject } from '../log/log.fixture.ts';
import type { Log } from '../log/log.ts';
import { projectionContract } from '../projection/projection.contract.ts';
import { reactorContract } from '../reactor/reactor.contract.ts';
import { crashContract } from '../runner/crash.contract.ts';
import { jsonCodec, topicsOf } from '../runner/processors.fixture.ts';
import { refusalContract } from '../runner/refusal.contract.ts';
import { runnerContract } from '../runner/runner.contract.ts';
import type { LogFactory } from '../runner/runner.fixture.ts';
import { openSqliteLog } from './sqlite-log.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-log-'));
const opened: Log[] = [];
afterAll(async () => {
  for (const log of opened) await log[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

const open = async (topics: Readonly<Record<string, number>>): Promise<Log> => {
  const stored = Object.entries(topics).map(
    ([topic, partitions]) => ({ topic, partitions, keep: 'forever', keepMarksMs: 3_600_000 }) as const,
  );
  const log = await openSqliteLog({
    path: path.join(dir, 'log.db'),
    codec: jsonCodec,
    topics: stored,
    now: Date.now,
  });
  opened.push(log);
  return log;
};

const log = await open({});
let made = 0;

const subject: Subject = {
  log: () => log,
  topic: async (name, partitions) => {
    const topic = `${name}-${made++}`;
    await open({ [topic]: partitions });
    return topic;
  },
};

describe('the log in a file', () => {
  logContract(subject);
  groupContract(subject);
});

/** Each client has a connection of its own, as processes have. */
const ground: LogFactory = {
  log: () => open({}),
  topics: async (partitions) => {
    const run = `run-${made++}`;
    await open(topicsOf(run, partitions));
    return run;
  },
};

describe('the processor on a file', () => {
  runnerContract(ground);
  crashContract(ground);
  refusalContract(ground);
});
describe('the runners with effects outside on a file', () => {
  reactorContract(ground);
  projectionContract(ground);
});
