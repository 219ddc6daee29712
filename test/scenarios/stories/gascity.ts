import { existsSync } from 'node:fs';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** gascity's shutdown dance, for an agent whose work item stands still while its output shows an error pattern. */
export const roles: readonly Role[] = [
  { name: 'wedged', part: 'wedged', policy: 'gascity' },
  { name: 'answers', part: 'wedgedButAnswers', policy: 'gascity' },
  { name: 'moves', part: 'wedgedButMoves', policy: 'gascity' },
  { name: 'left', part: 'leftBehind', policy: 'gascity-plain' },
  { name: 'at-prompt', part: 'wedgedAtItsPrompt', policy: 'gascity' },
  { name: 'at-permission', part: 'wedgedAtAPermission', policy: 'gascity' },
  { name: 'unswept', part: 'leftBehind', policy: 'gascity-off' },
];

const { agentHealth, agentIntervention, agentObservation, agentOrder, orderReceipt, taskRecovery } = Topic;

/** Its terminal shows the question with its nonce, because an echo is not an answer. */
export const executedWhenSilent = async ({ all, comes, types, diary, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'wedged', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  await holds(() =>
    expect(types(agentOrder, 'wedged')).toEqual(['PROBE_AGENT', 'PROBE_AGENT', 'PROBE_AGENT', 'TERMINATE_AGENT']),
  );
  const probes = all(agentOrder, 'wedged', 'PROBE_AGENT');
  expect(probes.map(({ waitMs }) => waitMs)).toEqual([4000, 8000, 16_000]);
  expect(new Set(probes.map(({ nonce }) => nonce)).size).toBe(3);
  for (const [index, { message, nonce }] of probes.entries()) {
    expect(message).toMatch(
      /^\[DOG\] HEALTH CHECK: Session wedged, respond ALIVE within \d+s or face termination\.\nWarrant reason: /,
    );
    expect(message).toContain(`Filed by: controller\nAttempt: ${index + 1}/3\nAnswer: ALIVE ${nonce}`);
  }
  await holds(() => expect(diary('wedged').filter((line) => line.startsWith('received probe'))).toHaveLength(3));
  await holds(() =>
    expect(all(agentHealth, 'wedged', 'WARRANT_FILED')).toMatchObject([{ label: 'pool:dog', title: 'stuck:wedged' }]),
  );
  expect(isAlive('wedged')).toBe(false);
  expect(types(taskRecovery, 'T-wedged')).toEqual([]);
};

/** gascity-packs #282: danced without a warrant. All that is done names the one warrant that was filed. */
export const danceNamesItsWarrant = async ({ all, comes }: Stage): Promise<void> => {
  await comes(agentIntervention, 'wedged', 'CASE_CLOSED');
  const filed = all(agentHealth, 'wedged', 'WARRANT_FILED');
  expect(filed).toEqual([expect.objectContaining({ warrantId: expect.stringMatching(/./) })]);
  const { warrantId } = filed[0] ?? {};
  expect(all(agentIntervention, 'wedged', 'CASE_OPENED').map((opened) => opened.warrantId)).toEqual([warrantId]);
  const [{ caseId } = { caseId: '' }] = all(agentIntervention, 'wedged', 'CASE_OPENED');
  expect(caseId).toContain(warrantId);
  const orders = [...all(agentOrder, 'wedged', 'PROBE_AGENT'), ...all(agentOrder, 'wedged', 'TERMINATE_AGENT')];
  expect(orders.map((order) => order.caseId)).toEqual(Array(4).fill(caseId));
  expect(all(agentIntervention, 'wedged', 'CASE_CLOSED').map((closed) => closed.caseId)).toEqual([caseId]);
};

/** Its output is archived before its death is reported. */
export const forensicsBeforeTheKill = async ({ all, comes }: Stage): Promise<void> => {
  const { forensics } = await comes(agentIntervention, 'wedged', 'AGENT_TERMINATED');
  expect(existsSync(new URL(forensics ?? 'file:///none'))).toBe(true);
  const receipt = await until('the receipt of its end', async () =>
    all(orderReceipt, 'wedged', 'ORDER_RECEIPT').find(({ kind }) => kind === 'terminate'),
  );
  expect(receipt.lastOutput.join('\n')).toContain('API Error: 400 tool_use ids');
};

export const pardonedByItsAnswer = async ({ comes, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'answers', 'CASE_CLOSED')).toMatchObject({ ending: 'pardoned' });
  await comes(agentIntervention, 'wedged', 'AGENT_TERMINATED');
  expect(types(agentIntervention, 'answers')).toEqual(['CASE_OPENED', 'CASE_CLOSED']);
  await holds(() => expect(new Set(types(agentOrder, 'answers'))).toEqual(new Set(['PROBE_AGENT'])));
  expect(isAlive('answers')).toBe(true);
};

/** Its actions count as much as its answers: after the probe it continues its work, and the dance is over. */
export const pardonedByItsProgress = async ({ comes, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'moves', 'CASE_CLOSED')).toMatchObject({ ending: 'recovered' });
  await holds(() => expect(new Set(types(agentOrder, 'moves'))).toEqual(new Set(['PROBE_AGENT'])));
  expect(isAlive('moves')).toBe(true);
};

/** Without any pattern the other axis still finds: nothing was done since the work item was touched. */
export const leftBehindByItsWork = async ({ comes, diary, received, touch, types }: Stage): Promise<void> => {
  // Its item must change well after its last call, also on a machine on which watched time stands still for a moment.
  const heartbeatsSince = (name: string): number => {
    const heartbeats = received
      .of(agentObservation)
      .flatMap(({ type, key, payload }) => (type === 'AGENT_HEARTBEAT' && key === name ? [payload] : []));
    const last = heartbeats.findLastIndex(({ tool_calls }) => tool_calls.length > 0);
    return last === -1 ? 0 : heartbeats.length - 1 - last;
  };
  for (const name of ['left', 'unswept']) {
    await until(`${name} rests`, async () => diary(name).includes('rests') && heartbeatsSince(name) >= 8);
    touch(name);
  }
  expect(await comes(agentIntervention, 'left', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  await holds(() =>
    expect(types(agentOrder, 'left')).toEqual(['PROBE_AGENT', 'PROBE_AGENT', 'PROBE_AGENT', 'TERMINATE_AGENT']),
  );
  const warrant = await comes(agentHealth, 'left', 'WARRANT_FILED');
  expect(warrant.evidence.map(({ signal }) => signal)).toEqual(['no_work_update', 'progress_mismatch']);
  expect(warrant.metadata).toMatchObject({ target: 'left', requester: 'controller', wisp_id: 'T-left' });
};

/** A session that is wedged on an API error looks idle at its prompt, which excuses nothing; an open permission does. */
export const promptIsNoExcuse = async ({ all, comes, types }: Stage): Promise<void> => {
  const { evidence } = await comes(agentHealth, 'at-prompt', 'WARRANT_FILED');
  expect(evidence.map(({ signal }) => signal).toSorted()).toEqual(['error_pattern', 'no_work_update']);
  await comes(agentOrder, 'at-prompt', 'PROBE_AGENT');
  await comes(agentIntervention, 'wedged', 'AGENT_TERMINATED');
  expect(all(agentHealth, 'at-permission', 'EXEMPTION_CHANGED')).not.toEqual([]);
  expect(types(agentHealth, 'at-permission')).not.toContain('WARRANT_FILED');
  expect(types(agentOrder, 'at-permission')).toEqual([]);
};

/** `stuck_sweep` is off until it is requested: seen, and nothing follows. */
export const offUntilRequested = async ({ all, comes, types, isAlive }: Stage): Promise<void> => {
  await comes(agentIntervention, 'left', 'AGENT_TERMINATED');
  await holds(() => expect(all(agentHealth, 'unswept', 'HEALTH_STATE_CHANGED').at(-1)).toMatchObject({ to: 'STUCK' }));
  expect(all(agentHealth, 'unswept', 'WARRANT_FILED')).toEqual([]);
  expect(types(agentIntervention, 'unswept')).toEqual([]);
  expect(isAlive('unswept')).toBe(true);
};
