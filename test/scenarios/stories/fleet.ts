import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** Stories about the whole fleet. They run one after the other, after all others. */
const mass = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `mass-${n}`);
export const roles: readonly Role[] = [
  ...mass.map((name) => ({ name, part: 'works', policy: 'botbox' })),
  { name: 'rehearsed', part: 'worksAndSaves', policy: 'coditect' },
  { name: 'spared', part: 'works', policy: 'omniclaude' },
  { name: 'steady', part: 'works', policy: 'omniclaude' },
  { name: 'steadier', part: 'worksAndSaves', policy: 'coditect' },
];

const { agentHealth, agentIntervention, agentOrder, alert, fleetGovernance, stepRuling, taskRecovery } = Topic;

/** An agent that falls silent before its first call is not judged yet. */
const untilWorking = ({ received }: Stage, name: string): Promise<unknown> =>
  until(`${name} works`, async () =>
    received.of(Topic.agentObservation).some(({ key, type, payload }) => {
      return key === name && type === 'AGENT_HEARTBEAT' && payload.tool_calls.length > 0;
    }),
  );

/** A step that a dry run has reported is executed after the dry run, if its finding still holds. */
export const dryRun = async (stage: Stage): Promise<void> => {
  const { all, comes, runs, silence, rouse, types, received, isAlive } = stage;
  const changed = () => received.of(fleetGovernance).filter(({ type }) => type === 'DRY_RUN_CHANGED').length;
  await untilWorking(stage, 'rehearsed');
  await runs('dry-run', 'on');
  await until('it is a dry run', async () => changed() === 1);
  silence('rehearsed');
  await comes(agentIntervention, 'rehearsed', 'STEP_SKIPPED', 4);
  const skipped = all(agentIntervention, 'rehearsed', 'STEP_SKIPPED');
  expect(skipped.map(({ step, why }) => `${step}: ${why}`)).toEqual(
    ['nudge', 'escalate', 'terminate', 'recover'].map((step) => `${step}: dry_run`),
  );
  expect(skipped.map(({ detail }) => detail)).toEqual([
    'nudge would be done now',
    'escalate would be done now',
    'terminate would be done now',
    'the task would be put on a fresh agent',
  ]);
  await comes(agentHealth, 'rehearsed', 'WARRANT_RENEWED', all(agentHealth, 'rehearsed', 'WARRANT_RENEWED').length + 2);
  await holds(() => expect(all(agentIntervention, 'rehearsed', 'CASE_OPENED'), 'it is reported once').toHaveLength(1));
  expect(types(agentOrder, 'rehearsed')).toEqual([]);
  expect(types(taskRecovery, 'T-rehearsed')).toEqual([]);
  expect(isAlive('rehearsed')).toBe(true);
  await runs('dry-run', 'off');
  await until('it is none any more', async () => changed() === 2);
  await comes(agentIntervention, 'rehearsed', 'NUDGE_SENT');
  rouse('rehearsed');
  expect(await comes(agentIntervention, 'rehearsed', 'CASE_CLOSED', 2)).toMatchObject({ ending: 'recovered' });
  expect(types(agentOrder, 'rehearsed')).not.toContain('TERMINATE_AGENT');
};

/** hive #5205, #5206: stopped by people, it kept acting. */
export const halted = async (stage: Stage): Promise<void> => {
  const { all, comes, runs, silence, rouse, types, received, isAlive } = stage;
  const governed = (type: string) => received.of(fleetGovernance).some((event) => event.type === type);
  const renewals = () => all(agentHealth, 'steadier', 'WARRANT_RENEWED').length;
  await untilWorking(stage, 'steadier');
  await runs('halt');
  await until('the fleet is halted', async () => governed('FLEET_HALTED'));
  silence('steadier');
  await comes(agentHealth, 'steadier', 'WARRANT_FILED');
  await comes(agentHealth, 'steadier', 'WARRANT_RENEWED', renewals() + 2);
  rouse('steadier');
  await comes(agentHealth, 'steadier', 'WARRANT_LAPSED');
  await runs('resume');
  await until('it is resumed', async () => governed('FLEET_RESUMED'));
  expect(types(agentIntervention, 'steadier')).toEqual([]);
  expect(types(agentOrder, 'steadier')).toEqual([]);
  expect(isAlive('steadier')).toBe(true);
};

/**
 * Gas Town: sessions died within ten seconds of each other: one escalation. An agent that hangs in the meantime is not
 * ended.
 */
export const massDeath = async (stage: Stage): Promise<void> => {
  const { all, comes, runs, silence, rouse, types, received, pid, isAlive } = stage;
  const engaged = () =>
    received.of(fleetGovernance).flatMap(({ type, payload }) => (type === 'BRAKE_ENGAGED' ? [payload] : []));
  for (const name of [...mass, 'spared']) await untilWorking(stage, name);
  expect(engaged(), 'not for the deaths of other stories').toEqual([]);
  silence('spared');
  for (const name of mass) process.kill(pid(name), 'SIGKILL');
  await until('the brake engages', async () => engaged().length > 0);
  await until('a terminate is withheld', async () => all(stepRuling, 'spared', 'STEP_WITHHELD').length > 0);
  expect(all(stepRuling, 'spared', 'STEP_WITHHELD')[0]).toMatchObject({ step: 'terminate', why: 'brake' });
  expect(await comes(agentIntervention, 'spared', 'CASE_WITHHELD')).toMatchObject({ step: 'terminate', why: 'brake' });
  const renewals = () => all(agentHealth, 'spared', 'WARRANT_RENEWED').length;
  await comes(agentHealth, 'spared', 'WARRANT_RENEWED', renewals() + 2);
  const ofCase = all(agentIntervention, 'spared', 'CASE_OPENED').length;
  expect(ofCase, 'a withheld case stays one case').toBe(1);
  expect(all(agentIntervention, 'spared', 'CASE_WITHHELD')).toHaveLength(1);
  rouse('spared');
  await comes(agentHealth, 'spared', 'WARRANT_LAPSED');
  expect(await comes(agentIntervention, 'spared', 'CASE_CLOSED')).toMatchObject({ ending: 'recovered' });
  for (const name of mass) await comes(agentIntervention, name, 'CASE_CLOSED');
  await runs('brake', 'lift');
  await until('it is lifted', async () => received.of(fleetGovernance).some(({ type }) => type === 'BRAKE_RELEASED'));
  const incidents = () =>
    received
      .of(alert)
      .filter(({ type, payload }) => type === 'ALERT_RAISED' && (payload as { route: string }).route === 'fleet_brake');
  await holds(() => expect(incidents()).toHaveLength(1));
  expect(engaged()).toHaveLength(1);
  for (const name of [...mass, 'spared']) expect(types(agentOrder, name)).toEqual([]);
  expect(isAlive('spared')).toBe(true);
};

/** mars #470, red-skills #3578: a monitor that had stood still reported working agents as silent. */
export const standingStill = async ({ vigil, all, types }: Stage): Promise<void> => {
  const ingest = vigil.system.service('heartbeat-ingest');
  const since = Date.now();
  ingest.freeze();
  await until('it has stood still for twice its limit', async () => Date.now() > since + 12_000);
  ingest.thaw();
  const beaten = async (): Promise<number> =>
    (await vigil.events(Topic.agentObservation)).filter(({ key }) => key === 'steady').length;
  const before = await beaten();
  await until('heartbeats are received again', async () => (await beaten()) > before + 3);
  for (const name of ['steady', 'steadier'])
    expect(all(agentHealth, name, 'HEALTH_STATE_CHANGED').map(({ to }) => to)).not.toContain('TERMINATED');
  expect(all(agentHealth, 'steady', 'WARRANT_FILED')).toEqual([]);
  expect(types(agentOrder, 'steady')).toEqual([]);
};
