import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { identify, isAlive, treeOf } from '../process/proc.ts';
import { killed, OrphanStage, until } from '../testing/orphans.ts';
import { simulatedClient } from '../testing/simulated-client.ts';
import { liveOn, resumeSession, type Stage, scriptSpec, setStage, terminate } from '../testing/stage.ts';
import type { Supervised } from './agent-instance.ts';

const linesOf = (dir: string, file: string): readonly string[] =>
  existsSync(join(dir, file)) ? readFileSync(join(dir, file), 'utf8').trim().split('\n') : [];
const allSteps = [1, 2, 3, 4, 5, 6].map((step) => `step ${step}`);

let stage: Stage;
let instance: Supervised | null = null;
let shown = '';
beforeEach(async () => {
  stage = await setStage();
  shown = '';
});
afterEach(async () => {
  await instance?.end('the test is over', 0).then(() => instance?.settled);
  instance = null;
  await stage.close();
});

const instances = async (faults: string, more: Record<string, string> = {}): Promise<Supervised> => {
  const env = { PATH: process.env.PATH ?? '', SIMULATED_FAULTS: faults, ...more };
  const spec = scriptSpec('', { command: process.execPath, args: [simulatedClient], cwd: stage.dir, env });
  instance = await liveOn(stage, spec, 200, (data) => {
    shown += data.toString();
  });
  return instance;
};
const receipts = () => stage.gateway.reports.flatMap((one) => (one.type === 'ORDER_RECEIPT' ? [one.payload] : []));
const exits = () => stage.gateway.reports.flatMap((one) => (one.type === 'AGENT_EXITED' ? [one.payload] : []));
const hangsBefore = (step: number) =>
  until(() => {
    expect(linesOf(stage.dir, 'faults')).toHaveLength(1);
    expect(linesOf(stage.dir, 'effects')).toHaveLength(step - 1);
  });

test.each(['hang', 'hang-midway', 'hang-deaf', 'stall'])(
  'a session with a %s is resumed, finishes, and does each step once',
  async (fault) => {
    const { terminal, spec } = await instances(`4:${fault}`);
    await hangsBefore(4);
    const before = terminal.pid;
    stage.gateway.offer(resumeSession({ message: 'please go on' }));
    await until(() => expect(receipts()).toMatchObject([{ outcome: 'done', kind: 'resume_session' }]));
    expect(isAlive(before)).toBe(false);
    await until(() => expect(exits()).toMatchObject([{ reason: 'finished', code: 0, instanceId: spec.instanceId }]));
    expect(linesOf(stage.dir, 'effects')).toEqual(allSteps);
    const [first, second, ...more] = linesOf(stage.dir, 'turns').map((line) => line.split(' '));
    expect(second).toEqual([first?.[0], 'please', 'go', 'on']);
    expect(more).toEqual([]);
    expect(shown).toContain('step 6 is done');
    expect(stage.gateway.heartbeats.every(({ instance_id }) => instance_id === spec.instanceId)).toBe(true);
  },
);

test('what the hung client runs in a session of its own is ended, too, and before it is resumed', async () => {
  const { terminal } = await instances('4:hang-tool');
  await hangsBefore(4);
  const tree = { leader: terminal.pid, socket: instance === null ? '' : addressOf(terminal.pid.pid), cgroup: null };
  await until(() => expect(treeOf(tree)).toHaveLength(2));
  const members = treeOf(tree).map(identify);
  stage.gateway.offer(resumeSession());
  await until(() => expect(exits()).toMatchObject([{ reason: 'finished' }]));
  expect(members.filter(isAlive)).toEqual([]);
});

const addressOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .find((one) => one.startsWith('VIGIL_SOCKET='))
    ?.slice('VIGIL_SOCKET='.length) ?? '';

test('what an agent has started in a session of its own is ended with it', async () => {
  const { terminal } = await instances('4:hang-tool');
  await hangsBefore(4);
  const tree = { leader: terminal.pid, socket: addressOf(terminal.pid.pid), cgroup: null };
  await until(() => expect(treeOf(tree)).toHaveLength(2));
  stage.gateway.offer(terminate());
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'done', confirmed: true }]));
  expect(treeOf(tree)).toEqual([]);
  expect(stage.gateway.heartbeats.at(-1)?.activity).toBe('exiting');
});

test('a client that has not reported its session is not resumed, and works on', async () => {
  const { terminal } = await instances('4:hang', { SIMULATED_CLIENT: 'another' });
  await hangsBefore(4);
  stage.gateway.offer(resumeSession());
  const why = 'the session is one of another, and the command starts simulated';
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'failed', why }]));
  expect(isAlive(terminal.pid)).toBe(true);
});

test('an order that comes twice resumes once', async () => {
  await instances('4:hang');
  await hangsBefore(4);
  stage.gateway.offer(resumeSession());
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'done' }]));
  stage.gateway.offer(resumeSession());
  await until(() => expect(exits()).toMatchObject([{ reason: 'finished' }]));
  expect(linesOf(stage.dir, 'turns')).toHaveLength(2);
});

test('a request to end during a session resume ends the agent', async () => {
  await instances('4:hang-deaf');
  await hangsBefore(4);
  stage.gateway.offer(resumeSession({ graceMs: 60_000 }));
  await until(() => expect(linesOf(stage.dir, 'signals')).toHaveLength(1));
  stage.gateway.offer(terminate({ graceMs: 0 }));
  await until(() =>
    expect(
      receipts()
        .map(({ kind, outcome }) => [kind, outcome])
        .sort(),
    ).toEqual([
      ['resume_session', 'superseded'],
      ['terminate', 'done'],
    ]),
  );
  expect(exits()).toMatchObject([{ reason: 'explicit', orderId: 'end-1' }]);
  expect(linesOf(stage.dir, 'turns')).toHaveLength(1);
});

test('orders for the same instance reach the resumed process', async () => {
  const { terminal } = await instances('4:hang-again');
  await hangsBefore(4);
  stage.gateway.offer(resumeSession());
  await until(() => expect(linesOf(stage.dir, 'faults')).toHaveLength(2));
  stage.gateway.offer(terminate());
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'done' }, { outcome: 'done', confirmed: true }]));
  expect(isAlive(terminal.pid)).toBe(false);
  expect(linesOf(stage.dir, 'turns')).toHaveLength(2);
});

/** The supervisor is killed as soon as `isReached` holds, and another one comes. */
const killedWhen = async (fault: string, isReached: (on: OrphanStage) => boolean): Promise<OrphanStage> => {
  const on = await OrphanStage.open();
  const { dir } = on.stage;
  const script = `SIMULATED_FAULTS=4:${fault} exec ${process.execPath} ${simulatedClient}`;
  const first = await on.runs(script);
  await until(() => expect([linesOf(dir, 'faults').length, linesOf(dir, 'effects').length]).toEqual([1, 3]));
  await on.keepsReporting();
  on.stage.gateway.offer(resumeSession({ instanceId: on.held.instanceId, graceMs: 300 }));
  await until(() => expect(isReached(on)).toBe(true));
  await killed(first);
  await on.runs(script);
  return on;
};
const journalOf = ({ stage: { dir } }: OrphanStage): string =>
  readFileSync(join(dir, 'journal', 'run-1.jsonl'), 'utf8');

test.each<readonly [string, string, (on: OrphanStage) => boolean]>([
  ['begun', 'hang', (on) => journalOf(on).includes('begun')],
  ['the client has received SIGINT', 'hang-deaf', (on) => linesOf(on.stage.dir, 'signals').length > 0],
  ['the client has ended', 'hang', (on) => !isAlive(on.held.child)],
  ['the session is resumed', 'hang', (on) => linesOf(on.stage.dir, 'turns').length === 2],
  ['it is done', 'hang', (on) => journalOf(on).includes('"done"')],
])('a supervisor that is killed when %s: the next one resumes the session once', async (_, fault, isReached) => {
  const on = await killedWhen(fault, isReached);
  try {
    await until(() => expect(on.reported('AGENT_EXITED')).toMatchObject([{ reason: 'finished' }]));
    await until(() =>
      expect(on.reported('ORDER_RECEIPT').at(-1)).toMatchObject({ kind: 'resume_session', outcome: 'done' }),
    );
    expect(linesOf(on.stage.dir, 'effects')).toEqual(allSteps);
    expect(linesOf(on.stage.dir, 'turns')).toHaveLength(2);
  } finally {
    await on.close();
  }
});
