import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startRuntime } from '../runtime/runtime.ts';
import { parseRuntimeConfig } from '../runtime/runtime-config.ts';
import { killed, OrphanStage, until } from '../testing/orphans.ts';
import { scriptSpec, terminate } from '../testing/stage.ts';
import { forgetPreviousRuns, previousRunFile, previousRunOf, savePreviousRun } from './previous-run.ts';

let on: OrphanStage;
beforeEach(async () => {
  on = await OrphanStage.open();
});
afterEach(() => on.close());

const instances = (): number => readFileSync(join(on.stage.dir, 'instances'), 'utf8').length;
const exits = (count: number) => until(() => expect(on.reported('AGENT_EXITED')).toHaveLength(count));
const CRASHING = 'printf x >> instances; exit 3';

describe('a runtime that was killed continues where it was', () => {
  test('what had crashed by then is not started again: what follows is recovery’s', async () => {
    const first = await on.runs(CRASHING);
    await exits(1);
    await killed(first);
    await on.runs(CRASHING);
    await until(() => expect(on.logged).toMatch(/a configured agent is not started.*"details":"exited with code 3"/));
    expect(instances()).toBe(1);
  });

  test('what had been ended by order is not either', async () => {
    const working = 'printf x >> instances; while :; do sleep 0.05; done';
    const first = await on.runs(working);
    await on.keepsReporting();
    on.stage.gateway.offer(terminate({ instanceId: on.held.instanceId }));
    await exits(1);
    await killed(first);
    await on.runs(working);
    await until(() => expect(on.logged).toContain('a configured agent is not started'));
    expect(instances()).toBe(1);
  });
});

test('a runtime that was stopped starts with its configuration again, including agents that had ended before', async () => {
  const first = await on.runs(CRASHING);
  await exits(1);
  first.kill('SIGTERM');
  await once(first, 'exit');
  await on.runs(CRASHING);
  await exits(2);
  expect(instances()).toBe(2);
});

test('a runtime also starts an agent again that had just ended by itself when the runtime was stopped', async () => {
  const { dir, deps } = on.stage;
  const cleanup = ['/bin/sh', '-c', `touch ${dir}/ended; while [ ! -e ${dir}/go ]; do sleep 0.02; done`];
  const config = parseRuntimeConfig(
    JSON.stringify({
      runtime: 'test',
      templates: [{ command: '/bin/sh', args: ['-c', 'exit 3'], cleanup }],
      agents: [{ name: 'worker-1', task: 'TASK-1' }],
    }),
    dir,
  );
  const runtime = await startRuntime(
    { config: { ...config, interval: 100 }, host: 'host-1', env: { PATH: process.env.PATH ?? '' }, users: new Map() },
    deps,
  );
  await until(() => expect(existsSync(join(dir, 'ended'))).toBe(true));
  const stopped = runtime.stop('the test is over');
  on.touch('go');
  await stopped;
  await until(() => expect(on.reported('AGENT_EXITED')).toMatchObject([{ reason: 'crashed' }]));
  expect(previousRunOf(dir, 'test', 'worker-1')).toBeNull();
});

describe('how an instance has ended', () => {
  const ended = { reason: 'crashed', details: 'exited with code 3' } as const;
  const keep = (more: object) => savePreviousRun(on.stage.deps, { ...scriptSpec(''), ...more }, ended);

  test('is kept for configured agents, and not for spawned ones', () => {
    keep({});
    keep({ agentId: 'worker-1.r1', orderId: 'spawn-1' });
    expect(existsSync(previousRunFile(on.stage.dir, 'run-1', 'worker-1.r1'))).toBe(false);
    expect(previousRunOf(on.stage.dir, 'run-1', 'worker-1')).toMatchObject({ agentId: 'worker-1', ...ended });
  });

  test('concerns its own runtime only, also when that starts again', () => {
    keep({});
    expect(previousRunOf(on.stage.dir, 'run-2', 'worker-1')).toBeNull();
    forgetPreviousRuns(on.stage.dir, 'run-2');
    expect(previousRunOf(on.stage.dir, 'run-1', 'worker-1')).not.toBeNull();
    forgetPreviousRuns(on.stage.dir, 'run-1');
    expect(previousRunOf(on.stage.dir, 'run-1', 'worker-1')).toBeNull();
  });

  test('is not covered up by the end of another by its name, of another runtime', () => {
    keep({});
    keep({ runtimeId: 'host-1.worker-1' });
    expect(previousRunOf(on.stage.dir, 'run-1', 'worker-1')).toMatchObject({ runtimeId: 'run-1' });
  });

  test('does not block the report of that end, also if it cannot be kept', () => {
    const logged: string[] = [];
    writeFileSync(join(on.stage.dir, 'runtimes', 'run-1.ended'), 'in the way');
    savePreviousRun({ dir: on.stage.dir, logger: (message) => logged.push(message) }, scriptSpec(''), ended);
    expect(logged).toEqual([expect.stringContaining('would start it again')]);
  });

  test('is unknown if its file is empty', () => {
    keep({});
    writeFileSync(previousRunFile(on.stage.dir, 'run-1', 'worker-1'), '');
    expect(previousRunOf(on.stage.dir, 'run-1', 'worker-1')).toBeNull();
  });
});
