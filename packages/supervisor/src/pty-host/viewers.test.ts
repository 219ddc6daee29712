import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../testing/orphans.ts';
import { keys, PtyHostStage } from '../testing/pty-host-stage.ts';

let on: PtyHostStage;
beforeEach(() => {
  on = new PtyHostStage();
});
afterEach(() => on.close());

test('each of several viewers receives the last output, and all further output', async () => {
  await on.pauseControl('printf first; read go; printf second; sleep 600');
  const supervisor = await on.supervise();
  await until(() => expect(supervisor.text).toBe('first'));
  const [one, two] = [await on.look(), await on.look(false, 2)];
  await until(() => expect([one.text, two.text]).toEqual(['first', 'st']));
  supervisor.link.send({ input: keys('\r') });
  await until(() => expect([one.text, two.text]).toEqual([supervisor.text, supervisor.text.slice(3)]));
  await until(() => expect(one.text).toContain('second'));
});

test('who only looks on can do nothing, and is cut off for trying; the environment is not theirs either', async () => {
  await on.pauseControl('read line; echo "got=$line"; sleep 600');
  const supervisor = await on.supervise();
  const viewer = await on.look();
  expect(viewer.link.hosted).toMatchObject({ kept: null, note: null });
  viewer.link.send({ action: { kind: 'types', input: keys('x\r') } });
  await viewer.link.closed;
  const other = await on.look();
  other.link.send({ input: keys('x\r') });
  await other.link.closed;
  expect(supervisor.others).toEqual([]);
  expect(supervisor.text).toBe('');
});

test('keys reach the agent only through its supervisor, which records the person', async () => {
  await on.pauseControl('read line; echo "got=$line"; sleep 600');
  await expect(on.look(true)).rejects.toThrow('no supervisor is running');
  const supervisor = await on.supervise();
  const viewer = await on.look(true);
  const input = keys('x\r');
  viewer.link.send({ action: { kind: 'types', input } });
  const who = { who: 'ann', writes: true };
  await until(() =>
    expect(supervisor.others).toEqual([
      { action: expect.objectContaining({ ...who, kind: 'opens' }) },
      { action: expect.objectContaining({ ...who, kind: 'types', input }) },
    ]),
  );
  expect(supervisor.text).toBe('');
  viewer.link.close();
  await until(() => expect(supervisor.others.at(-1)).toMatchObject({ action: { who: 'ann', kind: 'leaves' } }));
});

test('an action that a person may not take is dropped, and no viewer acts in the name of another', async () => {
  await on.pauseControl('sleep 600');
  const supervisor = await on.supervise();
  const size = { columns: 'x', rows: 1 };
  for (const action of [
    null,
    { kind: 'types' },
    { kind: 'ends', graceMs: -1 },
    { kind: 'resizes', size },
    { kind: 'leaves' },
  ]) {
    const viewer = await on.look(true);
    viewer.link.send({ action: action as never });
    await viewer.link.closed;
  }
  const viewer = await on.look(true);
  viewer.link.send({ action: { kind: 'ends', graceMs: 0, who: 'bob' } as never });
  await until(() => expect(supervisor.others.at(-1)).toMatchObject({ action: { kind: 'ends', who: 'ann' } }));
  const done = (kind: string) => supervisor.others.filter((one) => 'action' in one && one.action.kind === kind);
  await until(() => expect([done('opens').length, done('leaves').length]).toEqual([6, 5]));
  expect(supervisor.others).toHaveLength(6 + 5 + 1);
});

test('a viewer that reads too slowly is notified and cut off, while the agent prints on', async () => {
  await on.pauseControl(
    'read go; i=0; while [ $i -lt 40000 ]; do i=$((i+1)); echo "line $i of a long output"; done; echo end',
    1 << 16,
  );
  const supervisor = await on.supervise();
  const slow = await on.look();
  slow.link.pause();
  supervisor.link.send({ input: keys('\r') });
  await until(() => expect(supervisor.text).toContain('end'));
  slow.link.resume();
  await slow.link.closed;
  expect(slow.others).toEqual([{ missed: expect.any(Number) }]);
});

test('a viewer that reads on while the agent prints is still notified before it is cut off', async () => {
  await on.pauseControl('read go; while :; do echo "a line of an output without an end"; done', 1 << 16);
  const supervisor = await on.supervise();
  const slow = await on.look();
  slow.link.pause();
  supervisor.link.send({ input: keys('\r') });
  // more than is kept for it, on its way to it and in the kernel, with as much again
  await until(() => expect(supervisor.text.length).toBeGreaterThan(4 << 20));
  slow.link.resume();
  await slow.link.closed;
  expect(slow.others).toEqual([{ missed: expect.any(Number) }]);
  const printed = supervisor.text.length;
  await until(() => expect(supervisor.text.length).toBeGreaterThan(printed + (1 << 20)));
});

test('a later supervisor receives the viewer that may write, and cannot end an agent that has ended', async () => {
  await on.pauseControl('read go; exit 3');
  const first = await on.supervise();
  const viewer = await on.look(true);
  first.link.close();
  await first.link.closed;
  const second = await on.supervise();
  await until(() => expect(second.others).toMatchObject([{ action: { who: 'ann', writes: true, kind: 'opens' } }]));
  second.link.send({ input: keys('\r') });
  await until(() => expect(viewer.others).toMatchObject([{ ended: { code: 3 } }]));
  viewer.link.send({ action: { kind: 'ends', graceMs: 0 } });
  viewer.link.close();
  await until(() => expect(second.others.at(-1)).toMatchObject({ action: { kind: 'leaves' } }));
  expect(second.others.map((one) => ('action' in one ? one.action.kind : 'ended'))).toEqual([
    'opens',
    'ended',
    'leaves',
  ]);
});

test('with any number of viewers, the one that may write gets in', async () => {
  await on.pauseControl('sleep 600');
  const supervisor = await on.supervise();
  for (let seen = 0; seen < 16; seen += 1) await on.look();
  await expect(on.look()).rejects.toThrow('16 terminals are attached to it already: detach one of them');
  const [one, two] = [await on.look(true), await on.look(true)];
  one.link.send({ action: { kind: 'ends', graceMs: 0 } });
  await until(() => expect(supervisor.others.at(-1)).toMatchObject({ action: { kind: 'ends' } }));
  two.link.close();
  await two.link.closed;
  await expect(on.look()).rejects.toThrow('16 terminals');
});

test('those who write hold no place of those who look on', async () => {
  await on.pauseControl('sleep 600');
  await on.supervise();
  for (let seen = 0; seen < 3; seen += 1) await on.look(true);
  for (let seen = 0; seen < 16; seen += 1) await on.look();
  await expect(on.look()).rejects.toThrow('16 terminals');
});

test('one that is not to be reached that way is refused with what to do about it', async () => {
  await on.pauseControl('sleep 600');
  await expect(on.look(true)).rejects.toThrow(
    'no supervisor is running, and only a supervisor can do that: start its runtime again; where it was run by hand: vigil run --detach --name worker-1',
  );
  await on.supervise();
  await expect(on.supervise()).rejects.toThrow(
    `it is supervised by process ${process.pid} already: end that one first, or leave the agent to it`,
  );
});
