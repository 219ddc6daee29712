import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** omniclaude's healthcheck: ended, and a fresh agent from the checkpoint, twice at most; then the ticket is Blocked. */
export const roles: readonly Role[] = [
  { name: 'omn', part: 'stallsEachTime', policy: 'omniclaude' },
  { name: 'full', part: 'fillsItsContext', policy: 'omniclaude' },
  { name: 'brim', part: 'fillsItToTheBrim', policy: 'omniclaude' },
  { name: 'limited-omn', part: 'limitedOnce', policy: 'omniclaude' },
  { name: 'bash', part: 'testsForLong', policy: 'omniclaude' },
  { name: 'closed', part: 'stallsEachTime', policy: 'omniclaude' },
];

const { agentHealth, agentHealthcheck, agentIntervention, agentOrder, taskRecovery } = Topic;
const SAVED = expect.stringMatching(/^recovery-T-omn-\d{8}T\d{6}$/);
const instances = ['omn', 'omn-r1', 'omn-r2'];

export const redispatchedTwiceThenBlocked = async ({ all, comes, types, diary }: Stage): Promise<void> => {
  const review = await comes(taskRecovery, 'T-omn', 'REVIEW_REQUIRED');
  expect(review).toMatchObject({ taskId: 'T-omn', attempts: 2 });
  expect(all(taskRecovery, 'T-omn', 'RECOVERY_FAILED')).toHaveLength(1);
  expect(all(taskRecovery, 'T-omn', 'RECOVERY_INITIATED')).toMatchObject([
    { attempt: 1, of: 2, newAgentId: 'omn-r1', deadAgentId: 'omn', fromCheckpoint: SAVED },
    { attempt: 2, of: 2, newAgentId: 'omn-r2', deadAgentId: 'omn-r1', fromCheckpoint: SAVED },
  ]);
  for (const name of instances) {
    await holds(() =>
      expect(types(agentOrder, name).filter((type) => type !== 'SPAWN_AGENT')).toEqual(['TERMINATE_AGENT']),
    );
    await holds(() =>
      expect(types(agentIntervention, name)).toEqual(['CASE_OPENED', 'AGENT_TERMINATED', 'CASE_CLOSED']),
    );
    expect(diary(name)[0]).toMatch(/^began/);
    expect(diary(name)).not.toContain('the one before it is still alive');
    await holds(() => expect(diary(name).at(-1)).toMatch(/^received shutdown_request/));
  }
  expect(diary('omn-r3')).toEqual([]);
};

/** openclaw #95750: a restarted counter of attempts counted from nothing. */
export const attemptsSurviveTheCounter = async ({ all, comes, vigil }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-omn', 'RECOVERY_COMPLETED');
  vigil.system.service('recovery').kill('SIGKILL');
  expect(await comes(taskRecovery, 'T-omn', 'REVIEW_REQUIRED')).toMatchObject({ attempts: 2 });
  expect(all(taskRecovery, 'T-omn', 'RECOVERY_INITIATED').map(({ attempt }) => attempt)).toEqual([1, 2]);
};

/** omniclaude's recovery file, from which its replacement continues. */
export const itsWorkSaved = async ({ comes, folder }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-omn', 'RECOVERY_INITIATED', 2);
  const saved = path.join(folder, '.onex_state/pipeline_checkpoints/T-omn');
  const texts = readdirSync(saved)
    .sort()
    .map((name) => readFileSync(path.join(saved, name), 'utf8'));
  expect(texts.length).toBeGreaterThanOrEqual(2);
  expect(texts[0]).toMatch(
    /^schema_version: 1\.1\.0\nticket_id: T-omn\ntimestamp_utc: \S+\nstall_reason: inactivity\n/,
  );
  expect(texts[0]).toContain('completed_work:\n  - part 3\nremaining_work:\n  - part 4\nredispatch_attempt: 1\n');
};

/**
 * On the third stall: the friction event, and the line that names it. They are in the agent's own folder, because the
 * preset names the places; no channel is configured.
 */
export const frictionByDefault = async ({ comes, folder }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-omn', 'REVIEW_REQUIRED');
  const log = path.join(folder, '.onex_state/dispatch-log');
  const lines = readdirSync(log)
    .sort()
    .flatMap((day) => readFileSync(path.join(log, day), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.ticket_id === 'T-omn');
  const of = (event: string) => lines.filter((line) => line.event === event);
  expect(of('redispatch').map((line) => line.redispatch_attempt)).toEqual([1, 2]);
  expect(of('stall_detected').at(-1)).toMatchObject({
    ...{ stall_reason: 'inactivity', bash_timeout_exemption: false },
    ...{ redispatch_attempt: 3, max_redispatches: 2, action: 'escalate_to_blocked' },
  });
  const [escalated, ...more] = of('escalated_to_blocked');
  expect(more).toEqual([]);
  expect(escalated).toMatchObject({ attempt_count: 3 });
  expect(escalated.friction_path).toMatch(/^\.onex_state\/friction\/\d{4}-\d\d-\d\d-agent-stall-escalation-t-omn\.md$/);
  expect(readFileSync(path.join(folder, escalated.friction_path), 'utf8')).toMatch(
    /^# Agent Stall Escalation: T-omn\n## Summary\nAgent stalled 3 times on T-omn, exceeding the max redispatch\nlimit of 2\./,
  );
};

/**
 * omniclaude's own event, for watchers of tickets: its eleven fields, and one event for each change of status,
 * checkpoint or action.
 */
export const itsEventReported = async ({ all, comes }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-omn', 'REVIEW_REQUIRED');
  const events = () => all(agentHealthcheck, 'T-omn', 'AGENT_HEALTHCHECK');
  await holds(() => {
    expect(events().map(({ status }) => status)).toContain('recovered');
    expect(events().at(-1)).toMatchObject({ status: 'stalled', recovery_action: 'none' });
  });
  const emitted = events();
  for (const one of emitted) {
    expect(Object.keys(one).sort()).toEqual(FIELDS);
    expect(one).toMatchObject({ type: 'agent_healthcheck', ticket_id: 'T-omn' });
    expect(one.timestamp_utc).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(one.stall_reason).toBe(one.status === 'healthy' ? null : 'inactivity');
  }
  const views = emitted.map(
    ({ status, checkpoint_path: path, recovery_action: action }) => `${status} ${path} ${action}`,
  );
  expect(views.filter((view, at) => view === views[at - 1])).toEqual([]);
  const relaunched = emitted.filter(({ recovery_action: action }) => action === 'relaunch_fresh_agent');
  expect([...new Set(relaunched.map(({ agent_id }) => agent_id))].slice(0, 2)).toEqual(['omn', 'omn-r1']);
  for (const { checkpoint_path: saved } of relaunched.slice(1))
    expect(saved).toMatch(/pipeline_checkpoints\/T-omn\/recovery-\d{8}T\d{6}\.yaml$|\/omn(-r\d)?-\d+\.json$/);
};
const FIELDS = [
  'agent_id',
  'checkpoint_path',
  'context_usage_pct',
  'idle_minutes',
  'recovery_action',
  'stall_reason',
  'status',
  'ticket_id',
  'timestamp_utc',
  'type',
];

const redispatched = async ({ all, comes, diary, types }: Stage, name: string): Promise<void> => {
  expect(await comes(taskRecovery, `T-${name}`, 'RECOVERY_COMPLETED')).toMatchObject({ newAgentId: `${name}-r1` });
  await holds(() => expect(types(agentIntervention, name)).toEqual(['CASE_OPENED', 'AGENT_TERMINATED', 'CASE_CLOSED']));
  await holds(() =>
    expect(all(agentIntervention, name, 'AGENT_TERMINATED')).toMatchObject([{ confirmed: true, forced: false }]),
  );
  await holds(() => expect(diary(name).at(-1)).toMatch(/^received shutdown_request/));
  await holds(() => expect(types(agentOrder, `${name}-r1`)).toEqual(['SPAWN_AGENT']));
};
const stalledFirst = ({ all }: Stage, name: string) =>
  all(agentHealthcheck, `T-${name}`, 'AGENT_HEALTHCHECK').find(({ status }) => status === 'stalled');

/** Above 80 % of its context it is relieved before it hits the limit; at exactly 80 % it is not. */
export const relievedOfAFullContext = async (stage: Stage): Promise<void> => {
  await redispatched(stage, 'full');
  await holds(() =>
    expect(stalledFirst(stage, 'full')).toMatchObject({ stall_reason: 'context_overflow', context_usage_pct: 81 }),
  );
  expect(stage.types(agentHealth, 'brim')).not.toContain('WARRANT_FILED');
  expect(stage.isAlive('brim')).toBe(true);
};

export const relievedOfARateLimit = async (stage: Stage): Promise<void> => {
  await redispatched(stage, 'limited-omn');
  await holds(() => expect(stalledFirst(stage, 'limited-omn')).toMatchObject({ stall_reason: 'rate_limit' }));
};

/** A Bash call that may take ten minutes is waited for, long after a silent agent without one has been ended. */
export const longBashWaitedFor = async ({ comes, types, isAlive }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-omn', 'REVIEW_REQUIRED');
  expect(types(agentHealth, 'bash')).not.toContain('WARRANT_FILED');
  expect(isAlive('bash')).toBe(true);
};

/** gt #4698: put on work that its tracker had closed. The tracker is queried before the fresh agent would begin. */
export const closedWorkIsLeft = async ({ comes, diary, types }: Stage): Promise<void> => {
  const released = await comes(taskRecovery, 'T-closed', 'TASK_RELEASED');
  expect(released).toMatchObject({ why: 'not_needed', detail: expect.stringContaining('T-closed as closed') });
  expect(types(taskRecovery, 'T-closed')).not.toContain('RECOVERY_COMPLETED');
  expect(diary('closed-r1')).toEqual([]);
};
