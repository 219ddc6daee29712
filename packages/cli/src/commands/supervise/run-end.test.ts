import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hostId } from '../../supervising.ts';
import { openRunStage, type RunStage } from './run.fixture.ts';

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 50 });

let stage: RunStage;
beforeEach(async () => {
  stage = await openRunStage();
});
afterEach(() => stage.close());

/** The order to end the agent `worker-1`, as the gateway offers it. `axes`: of the finding; none: it was requested. */
const terminate = (reason: string, axes: readonly string[]): object => ({
  type: 'TERMINATE_AGENT',
  payload: {
    orderId: 'end-1',
    number: 1,
    agentId: 'worker-1',
    instanceId: stage.heartbeats[0]?.instance_id ?? null,
    runtimeId: `${hostId()}.worker-1`,
    caseId: 'case-1',
    taskId: null,
    ttlMs: 60_000,
    foldedSequence: null,
    axes,
    awaits: null,
    reason,
    graceMs: 0,
    cleanupMs: 0,
    leave: 'in_progress',
    release: [],
    restart: false,
  },
  expiresInMs: 60_000,
  isRecalled: false,
  policy: null,
});

const endedBy = async (reason: string, axes: readonly string[]) => {
  const { ended } = stage.start(['--health-policy', 'vigil', '--interval', '1s', '--', 'sleep', '600']);
  await until(() => expect(stage.heartbeats.length).toBeGreaterThan(0));
  stage.orders = [terminate(reason, axes)];
  return ended;
};

test('the owner of the terminal reads which plan ended the agent, why, and where to see what follows', async () => {
  const { code, err } = await endedBy('no activity for 2 min', ['absence']);
  expect(code).toBe(143);
  expect(err.trimEnd().split('\n').at(-1)).toMatch(
    /^vigil: the plan of \S+ \S+ ended worker-1: no activity for 2 min; vigil explain worker-1 shows what follows$/,
  );
});

test('an end that a person or a recovery requested has the given reason on one line', async () => {
  const { err } = await endedBy('it works on the\nwrong branch', []);
  expect(err.trimEnd().split('\n').at(-1)).toMatch(
    /^vigil: Vigil ended worker-1, as requested: it works on the.*branch;/,
  );
});

test('an agent that ends by itself, or that its own terminal ends, has no such line', async () => {
  expect((await stage.start(['--', '/bin/sh', '-c', 'exit 3']).ended).err).not.toContain('shows what follows');
  expect((await stage.start(['--', '/bin/sh', '-c', 'kill -TERM $PPID; sleep 600']).ended).err).not.toContain(
    'shows what follows',
  );
});
