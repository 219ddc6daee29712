import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import type { Role, Stage } from '../stage.ts';

/** omniclaude's healthcheck: ended, and a fresh agent from the checkpoint, twice at most; then the ticket is Blocked. */
export const roles: readonly Role[] = [{ name: 'omn', part: 'stallsEachTime', policy: 'omniclaude' }];

const { agentHealthcheck, agentIntervention, agentOrder, taskRecovery } = Topic;
const SAVED = expect.stringMatching(/^recovery-T-omn-\d{8}T\d{6}$/);
const lives = ['omn', 'omn-r1', 'omn-r2'];

export const redispatchedTwiceThenBlocked = async ({ all, comes, types, diary }: Stage): Promise<void> => {
  const review = await comes(taskRecovery, 'T-omn', 'REVIEW_REQUIRED');
  expect(review).toMatchObject({ taskId: 'T-omn', attempts: 2 });
  expect(all(taskRecovery, 'T-omn', 'RECOVERY_FAILED')).toHaveLength(1);
  expect(all(taskRecovery, 'T-omn', 'RECOVERY_INITIATED')).toMatchObject([
    { attempt: 1, of: 2, newAgentId: 'omn-r1', deadAgentId: 'omn', fromCheckpoint: SAVED },
    { attempt: 2, of: 2, newAgentId: 'omn-r2', deadAgentId: 'omn-r1', fromCheckpoint: SAVED },
  ]);
  for (const name of lives) {
    expect(types(agentOrder, name).filter((type) => type !== 'SPAWN_AGENT')).toEqual(['TERMINATE_AGENT']);
    expect(types(agentIntervention, name)).toEqual(['CASE_OPENED', 'AGENT_TERMINATED', 'CASE_CLOSED']);
    expect(diary(name)[0]).toMatch(/^began/);
    expect(diary(name)).not.toContain('the one before it is still alive');
    expect(diary(name).at(-1)).toMatch(/^heard shutdown_request/);
  }
  expect(diary('omn-r3')).toEqual([]);
};

/** Seed 003's recovery file, which its heir goes on from. */
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

/** Seed 003's own event, for whoever watches tickets. */
export const itsEventTold = async ({ all, comes }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-omn', 'REVIEW_REQUIRED');
  const told = all(agentHealthcheck, 'T-omn', 'AGENT_HEALTHCHECK');
  const stalled = told.filter(({ status }) => status === 'stalled');
  for (const one of stalled) expect(one).toMatchObject({ ticket_id: 'T-omn', stall_reason: 'inactivity' });
  const relaunched = stalled.filter(({ recovery_action: action }) => action === 'relaunch_fresh_agent');
  expect([...new Set(relaunched.map(({ agent_id }) => agent_id))].slice(0, 2)).toEqual(['omn', 'omn-r1']);
  expect(told.map(({ status }) => status)).toContain('recovered');
  expect(told.at(-1)).toMatchObject({ status: 'stalled', recovery_action: 'none' });
};
