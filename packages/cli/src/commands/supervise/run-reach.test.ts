import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainMonitoring } from '@vigil/supervisor';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openRunStage, type RunStage } from './run.fixture.ts';
import { ReachNotices, unwatchedByLog } from './run-reach.ts';
import { heartbeatInterval, nudging } from './run-spec.ts';

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 50 });

let stage: RunStage;
beforeEach(async () => {
  stage = await openRunStage();
});
afterEach(() => stage.close());

const start: RunStage['start'] = (args, gateway) => stage.start(args, gateway);
const stopFile = () => join(stage.dir, 'stop');
const untilStopped = () => ['--', '/bin/sh', '-c', `while [ ! -e ${stopFile()} ]; do sleep 0.05; done`];
const readLog = () => readFileSync(join(stage.dir, 'logs', 'worker-1.log'), 'utf8');

describe('vigil run reports that the agent is not watched', () => {
  test('by a gateway that refuses the token, on one line, and the agent runs as if Vigil were not there', async () => {
    stage.status = 401;
    const { code, out, err } = await start(['--', '/bin/sh', '-c', 'echo works; exit 3']).ended;
    expect({ code, out: out.trim() }).toEqual({ code: 3, out: 'works' });
    expect(err).toBe(
      `vigil: not watched: the gateway at ${stage.url} refuses this token (401): set VIGIL_GATEWAY_TOKEN to its own token, or to what \`vigil token create\` prints\n`,
    );
  });

  test('by a gateway that is not there, with what to do', async () => {
    const { code, err } = await start(['--', 'true'], 'http://127.0.0.1:9').ended;
    expect(code).toBe(0);
    expect(err).toMatch(
      /^vigil: not watched: no gateway answers at http:\/\/127\.0\.0\.1:9 \(.+\): start Vigil \(npm start\), or set VIGIL_GATEWAY_URL.*\n$/,
    );
  });

  test('with the reason of a gateway that forbids it, once, whichever request it refuses', async () => {
    stage.status = 403;
    const { printed, ended } = start(['--interval', '1s', ...untilStopped()]);
    await until(() => expect(stage.heartbeats.length).toBeGreaterThan(1));
    writeFileSync(stopFile(), '');
    await ended;
    expect(printed.err).toMatch(
      /^vigil: not watched: .* refuses this token \(403\): the gateway gives the reason for .*\n$/,
    );
  });

  test.each(['nonsense', 'localhost:7410'])('by no gateway where its address is %s: what to write', async (address) => {
    const { code, err } = await start(['--gateway', address, '--', 'true']).ended;
    expect(code).toBe(0);
    expect(err).toBe(
      `vigil: not watched: --gateway (or VIGIL_GATEWAY_URL) is "${address}", which is not an address: write one like http://127.0.0.1:7410\n`,
    );
  });

  test('when that changes, each time once', async () => {
    const { printed, ended } = start(['--interval', '1s', ...untilStopped()]);
    await until(() => expect(stage.heartbeats.length).toBeGreaterThan(0));
    expect(printed.err).toBe('');
    stage.status = 401;
    await until(() => expect(printed.err).toMatch(/not watched: .* refuses this token/));
    stage.status = 202;
    await until(() => expect(printed.err).toContain(`vigil: watched again by the gateway at ${stage.url}`));
    writeFileSync(stopFile(), '');
    expect((await ended).err.trim().split('\n')).toHaveLength(2);
    expect(readLog()).toContain('"message":"not watched"');
  });

  test('at once when the gateway goes away, however long the interval is', async () => {
    const { printed, ended } = start(['--interval', '10m', ...untilStopped()]);
    await until(() => expect(stage.heartbeats.length).toBeGreaterThan(0));
    stage.closeGateway();
    await until(() => expect(printed.err).toContain('vigil: not watched: no gateway answers at'));
    writeFileSync(stopFile(), '');
    await ended;
  });

  test('when the gateway judges a newer instance of its name, once', async () => {
    stage.successor = 'instance-9';
    const { printed, ended } = start(['--interval', '1s', ...untilStopped()]);
    const line = 'vigil: not watched: worker-1 was started again elsewhere as instance instance-9';
    await until(() => expect(printed.err).toContain(line));
    // Another instance of the gateway may know less.
    stage.successor = null;
    const seen = stage.heartbeats.length;
    await until(() => expect(stage.heartbeats.length).toBeGreaterThan(seen + 1));
    writeFileSync(stopFile(), '');
    expect((await ended).err.trim().split('\n')).toHaveLength(1);
  });

  test('also before it comes back from the background', async () => {
    stage.status = 401;
    const { code, err } = await start(['--detach', ...untilStopped()]).ended;
    expect(code).toBe(0);
    expect(err).toContain('vigil: not watched: the gateway at');
    await until(() => expect(readLog()).toContain('"message":"not watched"'));
    writeFileSync(stopFile(), '');
    await until(() => expect(readLog()).toContain('an agent has ended'));
  });

  test('never where it is watched', async () => {
    expect((await start(['--', 'true']).ended).err).toBe('');
  });
});

describe('with --require an unwatched agent is not started', () => {
  test.each([
    ['in the foreground', []],
    ['in the background', ['--detach']],
  ])('%s', async (_where, more) => {
    stage.status = 401;
    const ran = join(stage.dir, 'ran');
    const { code, err } = await start(['--require', ...more, '--', 'touch', ran]).ended;
    expect(code).toBe(2);
    expect(err).toContain('vigil: not started, since it would not be watched: the gateway at');
    expect(existsSync(ran)).toBe(false);
  });

  test('and what would be watched is started', async () => {
    expect(await start(['--require', '--', '/bin/sh', '-c', 'exit 4']).ended).toMatchObject({ code: 4, err: '' });
  });
});

describe('a request with a wrong name is refused before the agent starts', () => {
  test('a policy that is not there, with the one that was probably meant', async () => {
    const ran = join(stage.dir, 'ran');
    const { code, err } = await start(['--health-policy', 'vigli', '--', 'touch', ran]).ended;
    expect({ code, err }).toEqual({
      code: 2,
      err: 'vigil: --health-policy vigli: policy "vigli" does not exist: did you mean vigil? policies: demo, vigil\n',
    });
    expect(existsSync(ran)).toBe(false);
  });

  test('a request with a known name is sent', async () => {
    expect(await start(['--health-policy', 'vigil', '--', 'true']).ended).toMatchObject({ code: 0, err: '' });
    expect(stage.heartbeats[0]?.policy).toBe('vigil');
  });

  test.each([
    ['in the foreground', []],
    ['in the background', ['--detach']],
  ])('a request for a policy that its rule does not permit is sent with a warning, %s', async (_where, more) => {
    const { code, err } = await start([...more, '--health-policy', 'night', '--', 'true']).ended;
    expect(code).toBe(0);
    expect(err).toBe(
      'vigil: assign.yaml does not permit night: this agent is judged by demo; add night to may_request of its rule, then vigil policy apply assign.yaml\n',
    );
  });

  test('the warning counts the labels of the agent', async () => {
    const args = ['--health-policy', 'night', '--label', 'team=night', '--', 'true'];
    expect(await start(args).ended).toMatchObject({ code: 0, err: '' });
  });

  test('an interval below a second', async () => {
    const { code, err } = await start(['--interval', '1ms', '--', 'true']).ended;
    expect(code).toBe(2);
    expect(err).toContain("argument '1ms' is invalid. write a duration of at least 1s");
    expect(() => heartbeatInterval('999ms')).toThrow('at least 1s');
    expect(heartbeatInterval('1s')).toBe(1000);
  });
});

test('a warning of the gateway stands once in the log, however often it comes', async () => {
  await start(['--interval', '1s', '--', 'sleep', '1.2']).ended;
  expect(stage.heartbeats.length).toBeGreaterThan(1);
  expect(readLog().match(/the gateway warns: unknown field/g)).toHaveLength(1);
});

describe('while the agent has the terminal', () => {
  const written: string[] = [];
  const shown: unknown[] = [];
  const notice = {
    show: (line: string | null, rings: boolean) => void shown.push([line, rings]),
    end: () => void shown.push('end'),
  };
  const settings = { url: 'http://g', write: (line: string) => written.push(line), clock: () => '12:00:05', notice };
  beforeEach(() => {
    written.length = 0;
    shown.length = 0;
  });

  test('changes are kept, and written with their times when it has ended', () => {
    const notices = new ReachNotices(settings);
    notices.note({ kind: 'unwatched', why: 'a', forbidden: false });
    notices.hold();
    notices.note({ kind: 'watched' });
    notices.note({ kind: 'watched' });
    expect(written).toEqual(['vigil: not watched: a']);
    notices.release();
    expect(written).toEqual(['vigil: not watched: a', 'vigil: at 12:00:05 watched again by the gateway at http://g']);
    notices.note({ kind: 'unwatched', why: 'b\u001b[2J', forbidden: false });
    expect(written[2]).toBe('vigil: not watched: b');
  });

  test('each change is shown at once with a bell, what stood before without one, and nothing before or after', () => {
    const notices = new ReachNotices(settings);
    notices.note({ kind: 'unwatched', why: 'a', forbidden: false });
    expect(shown).toEqual([]);
    notices.hold();
    notices.note({ kind: 'watched' });
    notices.note({ kind: 'unwatched', why: 'b\u001b[2J', forbidden: false });
    notices.release();
    notices.note({ kind: 'watched' });
    expect(shown).toEqual([['vigil: not watched: a', false], [null, true], ['vigil: not watched: b', true], 'end']);
  });
});

test('who attaches reads from the log that the agent is not watched, and nothing where it is again', () => {
  const file = join(stage.dir, 'worker-1.log');
  const logs = (...lines: readonly object[]) =>
    writeFileSync(file, `${lines.map((line) => JSON.stringify({ time: 'T', ...line })).join('\n')}\nno JSON\n`);
  expect(unwatchedByLog(join(stage.dir, 'none.log'))).toBeNull();
  logs({ message: 'watched' }, { message: 'not watched', why: 'gone\u001b[2J' }, { message: 'an agent has ended' });
  expect(unwatchedByLog(file)).toBe('not watched since T: gone');
  logs({ message: 'not watched', why: 'gone' }, { message: 'watched' });
  expect(unwatchedByLog(file)).toBeNull();
});

describe('--nudge chooses how texts reach the agent', () => {
  const template = { ...plainMonitoring(), nudge: 'hook' as const };
  const file = { path: '/tmp/nudges', format: 'jsonl' as const };

  test('the command line overrides a template', () => {
    expect(nudging({}, template)).toMatchObject({ nudge: 'hook' });
    expect(nudging({ nudge: 'socket' }, template)).toEqual({ nudge: 'socket', nudgeFile: null });
    expect(nudging({ nudge: 'file', nudgeFile: '/tmp/nudges' }, template)).toEqual({ nudge: 'file', nudgeFile: file });
  });

  test('and a file is named exactly where texts go to one', () => {
    expect(() => nudging({ nudge: 'file' }, template)).toThrow('--nudge file needs --nudge-file PATH');
    expect(() => nudging({ nudgeFile: 'x' }, template)).toThrow('--nudge-file x needs --nudge file');
    expect(nudging({ nudge: 'file' }, { ...template, nudgeFile: file })).toEqual({ nudge: 'file', nudgeFile: file });
  });

  test('an unknown way is refused', async () => {
    const { code, err } = await start(['--nudge', 'mail', '--', 'true']).ended;
    expect(code).toBe(2);
    expect(err).toContain('Allowed choices are auto, socket, hook, terminal, file');
  });
});
