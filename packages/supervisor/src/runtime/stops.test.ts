import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { superviseHosted } from '../agent/supervise.ts';
import { type Stage, setStage, spawn } from '../testing/stage.ts';
import { type Runtime, startRuntime } from './runtime.ts';
import { parseRuntimeConfig } from './runtime-config.ts';

let stage: Stage;
let runtime: Runtime;
/** what a spawn waits for, in the order of its steps */
const gates = { policy: Promise.withResolvers<void>(), start: Promise.withResolvers<void>() };
const reached: string[] = [];
const pass = (gate: keyof typeof gates): Promise<void> => {
  reached.push(gate);
  return gates[gate].promise;
};

beforeEach(async () => {
  stage = await setStage();
  reached.length = 0;
  for (const gate of ['policy', 'start'] as const) gates[gate] = Promise.withResolvers<void>();
  const YAML = 'runtime: run-1\ngrace: 0s\ntemplates: [{ command: sleep, args: ["600"] }]';
  const config = { ...parseRuntimeConfig(YAML, stage.dir), interval: 100 };
  const gateway = {
    ...stage.deps.gateway,
    policy: async () => {
      await pass('policy');
      return { document: {} };
    },
  };
  runtime = await startRuntime(
    { config, host: 'host-1', env: { PATH: process.env.PATH ?? '' }, users: new Map() },
    { ...stage.deps, gateway, killAfterMs: 200 },
    async (...args) => {
      await pass('start');
      return superviseHosted(...args);
    },
  );
  stage.gateway.offer(spawn(), 60_000, 'assigned');
  await until(() => expect(reached).toEqual(['policy']));
});
afterEach(() => stage.close());

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const reported = (type: string) =>
  stage.gateway.reports.flatMap((report) => (report.type === type ? [report.payload] : []));

test('a runtime that is stopped while a spawn waits for its policy does not start the agent', async () => {
  const stopped = runtime.stop('the host goes down');
  gates.policy.resolve();
  gates.start.resolve();
  await stopped;
  expect([reached, reported('SPAWN_RECEIPT'), runtime.agents()]).toEqual([['policy'], [], []]);
  expect(readFileSync(join(stage.dir, 'journal', 'run-1.jsonl'), 'utf8')).not.toContain('begun');
});

test('a runtime that is stopped while an agent is being started ends it before it is gone', async () => {
  gates.policy.resolve();
  await until(() => expect(reached).toEqual(['policy', 'start']));
  const stopped = runtime.stop('the host goes down');
  gates.start.resolve();
  await stopped;
  expect(runtime.agents()).toEqual([]);
  await until(() => expect(reported('AGENT_EXITED')).toMatchObject([{ agentId: 'worker-1.r1', reason: 'explicit' }]));
});
