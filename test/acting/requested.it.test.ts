import path from 'node:path';
import { Topic } from '@vigil/events';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Received, receive } from '../support/received.ts';
import { holds, openSystem, ownServers, type TestSystem, until } from '../support/system.ts';
import { openPuppets, type Puppets } from './puppets.ts';

const env = {
  VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies'),
  VIGIL_GOVERNOR_SETTLE_S: '1',
  VIGIL_GOVERNOR_COOLDOWN_S: '5',
};
const topics = [
  Topic.heartbeat,
  Topic.agentHealth,
  Topic.agentIntervention,
  Topic.agentOrder,
  Topic.orderReceipt,
  Topic.stepRuling,
  Topic.fleetGovernance,
  Topic.taskRecovery,
];
const stuck = ['recovers', 'pardoned', 'patient', 'ends'];

/** Commands of people and their effects, in one story: a halt, its end, decisions, and a hold with a dry run. */
describe.skipIf(!ownServers)('people control what acts', () => {
  let vigil: TestSystem;
  let received: Received;
  let puppets: Puppets;

  beforeAll(async () => {
    vigil = await openSystem({ name: 'requested', policy: 'acting', env });
    received = await receive(vigil, topics);
    puppets = openPuppets(vigil, received, 'acting', [...stuck.map((name) => `-${name}`), 'held', 'rehearsed']);
  });
  afterAll(async () => {
    await puppets?.stop();
    received?.stop();
    await vigil?.stop();
  });

  const why = ['--why', 'the test decides it', '--by', 'tester'];
  const typesOf = (topic: typeof Topic.agentHealth | typeof Topic.agentIntervention, name: string) =>
    received.of(topic).filter(({ key }) => key === name);
  const health = (name: string, type: string) =>
    typesOf(Topic.agentHealth, name).filter((event) => event.type === type);
  const acted = (name: string, type: string) =>
    typesOf(Topic.agentIntervention, name).filter((event) => event.type === type);
  const orders = (name: string) => received.of(Topic.agentOrder).filter(({ key }) => key === name);
  const opened = (name: string) =>
    until(`a case of ${name}`, async () => acted(name, 'CASE_OPENED').at(-1)?.payload as { caseId: string });
  const escalated = (name: string) =>
    until(`${name} is escalated`, async () => acted(name, 'ESCALATION_TRIGGERED').length > 0);
  const closed = (name: string) =>
    until(`the case of ${name} is closed`, async () => acted(name, 'CASE_CLOSED').at(-1)?.payload);
  const ok = async (...args: string[]) => expect(await vigil.vigil(...args)).toMatchObject({ code: 0 });
  /** The read model follows later: a decision is refused with 404 until it shows the case. */
  const shown = (caseId: string) =>
    until(`${caseId} is shown`, async () => (await vigil.vigil('case', 'show', caseId)).code === 0);

  test('halted, everything observes and nothing acts', async () => {
    await ok('halt', ...why);
    await until('the fleet is halted', async () =>
      received.of(Topic.fleetGovernance).some(({ type }) => type === 'FLEET_HALTED'),
    );
    puppets.start();
    for (const name of stuck)
      await until(`the warrant of ${name} is renewed twice`, async () => health(name, 'WARRANT_RENEWED').length > 1);
    await holds(() => expect(new Set(received.of(Topic.stepRuling).map(({ key }) => key))).toEqual(new Set(stuck)));
    const rulings = received.of(Topic.stepRuling);
    expect(rulings.map(({ payload }) => ('why' in payload ? payload.why : 'admitted'))).toEqual(
      rulings.map(() => 'halted'),
    );
    expect(await vigil.events(Topic.agentOrder)).toEqual([]);
    expect(await vigil.events(Topic.agentIntervention)).toEqual([]);
    await holds(async () =>
      expect((await vigil.vigil('health', 'ends', '--json')).stdout).toContain('"status": "stuck"'),
    );
  });

  test('after a resume, a lasting finding is acted on, and a recovered agent is not', async () => {
    puppets.rouse('recovers');
    await until('the warrant of recovers has lapsed', async () => health('recovers', 'WARRANT_LAPSED').length > 0);
    await ok('resume', ...why);
    for (const name of stuck.slice(1)) {
      await opened(name);
      await escalated(name);
      await holds(() => expect(orders(name).map(({ type }) => type)).toEqual(['NUDGE_AGENT']));
    }
    expect(orders('recovers')).toEqual([]);
    expect(typesOf(Topic.agentIntervention, 'recovers')).toEqual([]);
  });

  test('a pardon closes the case, and no order follows', async () => {
    const { caseId } = await opened('pardoned');
    await shown(caseId);
    await ok('case', 'decide', caseId, 'pardon', ...why);
    expect(await closed('pardoned')).toMatchObject({ caseId, ending: 'pardoned' });
    expect(orders('pardoned').map(({ type }) => type)).toEqual(['NUDGE_AGENT']);
    await holds(async () =>
      expect((await vigil.vigil('case', 'show', caseId, '--json')).stdout).toContain('the test decides it'),
    );
  });

  test('more time leaves the case open, and is given twice', async () => {
    const { caseId } = await opened('patient');
    await shown(caseId);
    const decided = () => acted('patient', 'ESCALATION_DECIDED');
    for (const times of [1, 2]) {
      await ok('case', 'decide', caseId, 'allow_more_time', '--for', '1h', ...why);
      await until('it is decided', async () => decided().length === times);
    }
    const third = await vigil.vigil('case', 'decide', caseId, 'allow_more_time', '--for', '1h', ...why);
    expect(third).toMatchObject({ code: 1, stdout: expect.stringContaining('Refused: it has had more time 2 times') });
    const refused = await until('it is refused', async () => acted('patient', 'DECISION_REFUSED')[0]);
    expect(refused.payload).toMatchObject({ caseId, reason: 'it has had more time 2 times without progress' });
    expect(acted('patient', 'CASE_CLOSED')).toEqual([]);
  });

  test('a decision on a wrong or closed case is refused with a reason, by the ingress and past it', async () => {
    const { caseId } = await opened('pardoned');
    const wrong = await vigil.vigil('case', 'decide', 'case-none', 'pardon', ...why);
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('case-none');
    await until('the case is shown closed', async () =>
      (await vigil.vigil('case', 'decide', caseId, 'pardon', ...why)).stderr.includes('is closed (pardoned)'),
    );
    const who = { agentId: 'patient', by: 'x', why: 'x' };
    const decision = { ...who, caseId, decision: 'terminate_and_recover', forMs: null, question: null };
    await writer(vigil.log, Date.now).write([
      { topic: Topic.decideCase, type: 'DECIDE_CASE', key: 'patient', payload: decision as never },
    ]);
    await until('it is refused', async () => acted('patient', 'DECISION_REFUSED').length === 2);
    const refused = acted('patient', 'DECISION_REFUSED')[1]?.payload as { reason: string };
    expect(refused.reason).toContain(`not ${caseId}`);
    expect(orders('patient').map(({ type }) => type)).toEqual(['NUDGE_AGENT']);
  });

  test('terminate and recover: one order, one death, one fresh agent on the task', async () => {
    const instance = await puppets.instance('ends');
    const { caseId } = await opened('ends');
    await shown(caseId);
    await ok('case', 'decide', caseId, 'terminate_and_recover', ...why);
    expect(await closed('ends')).toMatchObject({ ending: 'executed' });
    await until('the task is taken up', async () =>
      received.of(Topic.taskRecovery).some(({ type, key }) => type === 'RECOVERY_COMPLETED' && key === 'T-ends'),
    );
    const receipts = () => received.of(Topic.orderReceipt).map(({ payload }) => payload);
    const ends = () => receipts().filter(({ agentId, kind }) => agentId === 'ends' && kind === 'terminate');
    await holds(() =>
      expect(ends()).toMatchObject([{ outcome: 'done', confirmed: true, instanceId: instance.instanceId }]),
    );
    await holds(() => expect(orders('ends').filter(({ type }) => type === 'TERMINATE_AGENT')).toHaveLength(1));
    expect(acted('ends', 'AGENT_TERMINATED')).toHaveLength(1);
    expect(puppets.ends('ends')).toBe(1);
  });

  test('a held agent is not found stuck; in a dry run, steps only report their effect', async () => {
    const { VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: token } = vigil.system.env;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const dryRun = { kind: 'dry_run', on: true, by: 'tester', why: 'rehearsal' };
    await fetch(`${url}/v1/commands`, { method: 'POST', headers, body: JSON.stringify(dryRun) });
    await until('it is a dry run', async () =>
      received.of(Topic.fleetGovernance).some(({ type }) => type === 'DRY_RUN_CHANGED'),
    );
    await ok('hold', 'held', ...why);
    await until('it is exempt', async () =>
      health('held', 'EXEMPTION_CHANGED').some(({ payload }) => 'to' in payload && payload.to === 'held'),
    );
    for (const name of ['held', 'rehearsed']) puppets.silence(name);
    const skipped = await until('a step is skipped', async () => acted('rehearsed', 'STEP_SKIPPED')[0]);
    expect(skipped.payload).toMatchObject({ step: 'nudge', why: 'dry_run' });
    expect(orders('rehearsed')).toEqual([]);
    await until('its warrant is renewed', async () => health('rehearsed', 'WARRANT_RENEWED').length > 0);
    expect(health('held', 'WARRANT_FILED')).toEqual([]);
    await ok('release', 'held', ...why);
    await until('released, it is found', async () => health('held', 'WARRANT_FILED').length > 0);
  });
});
