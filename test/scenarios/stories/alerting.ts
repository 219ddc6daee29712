import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** The agents of the notices, and their behaviour. */
export const roles: readonly Role[] = [
  { name: 'filed', part: 'stallsEachTime', policy: 'omniclaude-files' },
  { name: 'asked', part: 'stallsOnce', policy: 'coditect-orchestrator' },
];

const { agentIntervention, alert, taskRecovery } = Topic;

/** omniclaude's last step: the third stall is Blocked, with the friction event and the line that its tools read. */
export const blockedInItsFiles = async ({ comes, all, folder }: Stage): Promise<void> => {
  const { checkpoint } = await comes(taskRecovery, 'T-filed', 'REVIEW_REQUIRED');
  const delivered = () =>
    all(alert, 'recovery_failed:T-filed', 'ALERT_DELIVERED').filter(({ sink }) => sink === 'files');
  await until('the files have been notified', async () => delivered().length > 0);
  const [raised] = all(alert, 'recovery_failed:T-filed', 'ALERT_RAISED');
  const utc = `${new Date(raised?.raisedAt ?? 0).toISOString().slice(0, 19)}Z`;
  const day = utc.slice(0, 10);
  const friction = `.onex_state/friction/${day}-agent-stall-escalation-t-filed.md`;
  const saved = path.relative(folder, fileURLToPath(checkpoint?.uri ?? ''));
  expect(saved).toMatch(/^\.onex_state\/pipeline_checkpoints\/T-filed\/recovery-\d{8}T\d{6}\.yaml$/);
  expect(readFileSync(path.join(folder, friction), 'utf8')).toBe(frictionOf('T-filed', day, saved));
  const dispatchLog = path.join(folder, `.onex_state/dispatch-log/${day}.ndjson`);
  const lines = readFileSync(dispatchLog, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"T-filed"'));
  const expected = { event: 'escalated_to_blocked', ticket_id: 'T-filed', attempt_count: 3, friction_path: friction };
  expect(lines.filter((line) => line.includes('escalated_to_blocked'))).toEqual([
    JSON.stringify({ timestamp_utc: utc, ...expected }),
  ]);
  for (const event of ['stall_detected', 'agent_killed', 'redispatch'])
    expect(lines.some((line) => JSON.parse(line).event === event)).toBe(true);
};

const frictionOf = (ticket: string, day: string, checkpoint: string): string => `# Agent Stall Escalation: ${ticket}
## Summary
Agent stalled 3 times on ${ticket}, exceeding the max redispatch
limit of 2. The task waits for a person.
## Stall History
- See dispatch log: .onex_state/dispatch-log/${day}.ndjson
- Recovery checkpoint: ${checkpoint}
## Root Cause Hypothesis
Agent likely hitting context exhaustion or encountering a blocking issue that
persists across redispatches (e.g., missing dependency, broken test, infra issue).
## Recommended Action
Manual investigation required. Read the checkpoint and dispatch log to determine
whether the issue is agent-side (scope too large) or environment-side (broken infra).
`;

/** CODITECT's level 2, by an orchestrator: it receives the escalation, and decides about the agent. */
export const decidedByAnOrchestrator = async ({ comes, vigil, orchestrator }: Stage): Promise<void> => {
  const asks = () => orchestrator.taken().find(({ data }) => data.agent_id === 'asked' && data.decision !== null);
  const { data } = await until('the orchestrator is asked', async () => asks(), 120_000);
  const triggered = await comes(agentIntervention, 'asked', 'ESCALATION_TRIGGERED');
  expect(data).toMatchObject({ severity: 'warning', urgency: 'high', checkpoint: { checkpoint_id: 'asked-3' } });
  expect(data.checkpoint?.valid).toBe(triggered.checkpoint?.valid);
  expect(data.decision).toMatchObject({
    options: ['allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon'],
    deadline: new Date(triggered.deadlineAt ?? 0).toISOString(),
  });
  const headers = {
    authorization: `Bearer ${vigil.system.env.VIGIL_DASHBOARD_TOKEN}`,
    'content-type': 'application/json',
  };
  const command = { decision: 'terminate_and_recover', by: 'orchestrator', why: 'it does not come back' };
  const body = JSON.stringify({ ...data.decision?.body, ...command });
  await until('the decision is taken', async () => {
    const answer = await fetch(data.decision?.url ?? '', { method: 'POST', headers, body });
    return answer.status === 202;
  });
  expect(await comes(agentIntervention, 'asked', 'ESCALATION_DECIDED')).toMatchObject({
    ...command,
    by: 'admin (orchestrator)',
  });
  expect(await comes(taskRecovery, 'T-asked', 'RECOVERY_COMPLETED')).toMatchObject({ newAgentId: 'asked-r1' });
  const over = () =>
    orchestrator.taken().some(({ type, data: { agent_id } }) => type === 'alert.resolved' && agent_id === 'asked');
  await until('the orchestrator receives the end', async () => over());
  expect(orchestrator.refused()).toBe(1);
  expect(orchestrator.forged()).toBe(0);
};

/** Each policy has its own channels, and they receive no notices of other policies. */
export const notifiesNoOther = async ({ all, comes, folder, orchestrator }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-filed', 'REVIEW_REQUIRED');
  await comes(taskRecovery, 'T-asked', 'RECOVERY_COMPLETED');
  expect(orchestrator.taken().filter(({ data }) => !data.agent_id?.startsWith('asked'))).toEqual([]);
  const sinks = () => all(alert, 'stuck_agent:T-asked', 'ALERT_DELIVERED').map(({ sink }) => sink);
  await holds(() => expect([...new Set(sinks())]).toEqual(['orchestrator']));
  const friction = () => readdirSync(path.join(folder, '.onex_state/friction'));
  await holds(() => expect(friction().filter((name) => name.includes('t-filed'))).toHaveLength(1));
  expect(friction().filter((name) => name.includes('t-asked'))).toEqual([]);
};
