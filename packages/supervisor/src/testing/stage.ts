import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapters } from '@vigil/adapters';
import type {
  HandoffAgentPayload,
  InterruptAgentPayload,
  NudgeAgentPayload,
  PauseAgentPayload,
  ResumeAgentPayload,
  ResumeSessionPayload,
  SpawnAgentPayload,
  TerminateAgentPayload,
} from '@vigil/events';
import type { Supervised } from '../agent/agent-instance.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { noLimits } from '../agent/limits.ts';
import { supervise } from '../agent/supervise.ts';
import type { Logger } from '../clock.ts';
import type { AgentDeps } from '../deps.ts';
import { noStateFiles } from '../exit/state-files.ts';
import { dispatch } from '../orders/dispatch.ts';
import { defaultPatterns } from '../output/patterns.ts';
import { type OpenDeps, openDeps } from '../runtime/open-deps.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { simulated } from './simulated-client.ts';

/** A folder, a gateway and a supervisor's dependencies, all gone with `close`. */
export type Stage = {
  readonly dir: string;
  readonly gateway: FakeGateway;
  readonly deps: OpenDeps;
  /** how long an agent that ignores the first signal of its end lives on, milliseconds */
  readonly killAfterMs: number;
  readonly close: () => Promise<void>;
};

/** Dependencies of a supervisor whose instances receive the orders of the runtime `run-1`; it starts no others. */
export const dispatching = (
  of: Omit<AgentDeps, 'onOrders' | 'killAfterMs'>,
  instances: () => readonly Supervised[],
  killAfterMs: number,
): AgentDeps => {
  const starts = { isLeftAlone: () => false, spawn: () => {}, recallSpawn: () => {} };
  const deps: AgentDeps = {
    ...of,
    killAfterMs,
    onOrders: (orders) => dispatch(deps, { runtimeId: 'run-1', instances, ...starts }, orders),
  };
  return deps;
};

/** An instance on the stage, which receives the orders of the runtime `run-1`; a process that does not exit is killed after 200 ms. */
export const liveOn = async (
  { deps: ofStage, killAfterMs }: Stage,
  spec: AgentSpec,
  columns: number,
  onOutput: (data: Buffer) => void,
): Promise<Supervised> => {
  const instances: Supervised[] = [];
  const deps: AgentDeps = dispatching(ofStage, () => instances, killAfterMs);
  instances.push(await supervise(spec, deps, { size: { columns, rows: 24 }, isPiped: false, output: onOutput }));
  return instances[0] as Supervised;
};

export const setStage = async (runtimeId = 'run-1'): Promise<Stage> => {
  const dir = mkdtempSync(join(tmpdir(), 'vigil-test-'));
  const gateway = await fakeGateway();
  const deps = openTestDeps(dir, gateway, runtimeId);
  const close = async () => {
    deps.close();
    await gateway.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { dir, gateway, deps, killAfterMs: 200, close };
};

export const openTestDeps = (
  dir: string,
  { url }: Pick<FakeGateway, 'url'>,
  runtimeId: string,
  logger: Logger = () => {},
): OpenDeps => {
  return openDeps(runtimeId, {
    dir,
    socketDir: join(dir, 's'),
    gateway: { url, token: 'test' },
    pid: process.pid,
    cgroups: { kind: 'unavailable', why: 'the test does not use them' },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    logger,
    onReach: (agentId, reach) => logger(`reach: ${reach.kind}`, { agentId, ...reach }),
    newId: () => randomUUID(),
    clients: [simulated, ...adapters],
  });
};

/** A shell script as an agent. */
export const scriptSpec = (script: string, more: Partial<AgentSpec> = {}): AgentSpec => ({
  agentId: 'worker-1',
  instanceId: 'instance-1',
  taskId: 'TASK-1',
  runtimeId: 'run-1',
  attempt: 0,
  maxAttempts: null,
  policy: null,
  labels: {},
  parentAgentId: null,
  command: '/bin/sh',
  args: ['-c', script],
  cwd: tmpdir(),
  env: { PATH: process.env.PATH ?? '' },
  patterns: defaultPatterns,
  nudge: 'auto',
  nudgeFile: null,
  mustSignalCompletion: false,
  checkpointRoots: [],
  release: null,
  cleanup: null,
  pause: null,
  resume: null,
  workSource: null,
  stepLog: null,
  limits: noLimits,
  files: noStateFiles,
  intervalMs: 100,
  checkpoint: null,
  handover: null,
  user: null,
  orderId: null,
  ...more,
});

const common = {
  number: 1,
  agentId: 'worker-1',
  instanceId: 'instance-1',
  runtimeId: 'run-1',
  caseId: 'case-1',
  taskId: 'TASK-1',
  ttlMs: 60_000,
  foldedSequence: null,
  axes: [],
  awaits: null,
} as const;

export const nudge = (more: Partial<NudgeAgentPayload> = {}) =>
  ({
    type: 'NUDGE_AGENT',
    payload: { ...common, orderId: 'nudge-1', attempt: 1, message: 'are you still there', ...more },
  }) as const;

export const terminate = (more: Partial<TerminateAgentPayload> = {}) =>
  ({
    type: 'TERMINATE_AGENT',
    payload: {
      ...common,
      orderId: 'end-1',
      number: 2,
      reason: 'no_activity',
      graceMs: 50,
      cleanupMs: 1000,
      leave: 'released',
      release: [],
      restart: false,
      ...more,
    },
  }) as const;

export const pause = (more: Partial<PauseAgentPayload> = {}) =>
  ({ type: 'PAUSE_AGENT', payload: { ...common, orderId: 'pause-1', forMs: 60_000, ...more } }) as const;

export const resume = (more: Partial<ResumeAgentPayload> = {}) =>
  ({
    type: 'RESUME_AGENT',
    payload: { ...common, orderId: 'resume-1', number: 2, message: 'please go on', ...more },
  }) as const;

export const interrupt = (more: Partial<InterruptAgentPayload> = {}) =>
  ({
    type: 'INTERRUPT_AGENT',
    payload: { ...common, orderId: 'interrupt-1', number: 1, message: 'go on', ...more },
  }) as const;

export const resumeSession = (more: Partial<ResumeSessionPayload> = {}) =>
  ({
    type: 'RESUME_SESSION',
    payload: { ...common, orderId: 'resume-session-1', number: 1, message: 'go on', graceMs: 500, ...more },
  }) as const;

export const handoff = (more: Partial<HandoffAgentPayload> = {}) =>
  ({
    type: 'HANDOFF_AGENT',
    payload: { ...common, orderId: 'handoff-1', message: 'hand over and stop', deadlineMs: 60_000, ...more },
  }) as const;

export const spawn = (more: Partial<SpawnAgentPayload> = {}) =>
  ({
    type: 'SPAWN_AGENT',
    payload: {
      ...common,
      orderId: 'spawn-1',
      number: 0,
      agentId: 'worker-1.r1',
      instanceId: null,
      requestId: 'request-1',
      attempt: 1,
      maxAttempts: 3,
      checkpoints: [],
      completedWork: [],
      remainingWork: [],
      stallReason: 'no_activity',
      handover: 'continue',
      deadAgentId: 'worker-1',
      deadInstanceId: 'instance-1',
      labels: {},
      ...more,
    },
  }) as const;
