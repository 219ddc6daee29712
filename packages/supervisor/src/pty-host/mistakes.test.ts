import { EventEmitter } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../testing/orphans.ts';
import { keys, PtyHostStage } from '../testing/pty-host-stage.ts';
import { eachMessage } from './protocol.ts';
import { ptyHostLog } from './start.ts';

let on: PtyHostStage;
beforeEach(() => {
  on = new PtyHostStage();
});
afterEach(() => on.close());

/** The part of a socket that is read from; `broken`: the error that destroyed it. */
class Line extends EventEmitter {
  broken: unknown = null;
  setEncoding = (): this => this;
  destroy = (error: unknown): void => {
    this.broken = error;
  };
}
const line = (onMessage: (message: object) => void): Line => {
  const socket = new Line();
  eachMessage(socket as unknown as Socket, onMessage);
  return socket;
};

test('an invalid message breaks the link, and the error has the reason', () => {
  for (const text of ['garbage\n', 'null\n', '5\n', '"text"\n', 'x'.repeat((16 << 20) + 1)]) {
    const received: object[] = [];
    const socket = line((message) => received.push(message));
    socket.emit('data', text);
    expect(socket.broken).toBeInstanceOf(Error);
    expect(received).toEqual([]);
  }
});

test("an error in a message handler is the handler's own: the link holds, and reads on", () => {
  const received: object[] = [];
  const socket = line((message) => {
    if (received.push(message) === 1) throw new Error('a mistake of ours');
  });
  expect(() => socket.emit('data', '{"a":1}\n{"b"')).toThrow('a mistake of ours');
  socket.emit('data', ':2}\n');
  expect(received).toEqual([{ a: 1 }, { b: 2 }]);
  expect(socket.broken).toBe(null);
});

test('a bug in a PTY host is logged; neither its agent nor a link is lost by it', async () => {
  await on.pauseControl('read line; echo "got=$line"; sleep 600');
  const supervisor = await on.supervise();
  supervisor.link.send({ input: 5 as unknown as string });
  await until(() => expect(readFileSync(ptyHostLog(on.dir), 'utf8')).toMatch(/PTY host of worker-1.*TypeError/));
  supervisor.link.send({ input: keys('x\r') });
  await until(() => expect(supervisor.text).toContain('got=x'));
});

test('a terminal that its agent has closed accepts neither size nor keys, and the agent keeps running', async () => {
  // it receives the hangup when the terminal is closed on the other side, too
  const closes = 'trap "echo > closed" HUP; exec 0<&- 1>&- 2>&-';
  await on.pauseControl(`${closes}; while [ ! -e go ]; do sleep 0.02; done; exit 3`);
  const supervisor = await on.supervise();
  await until(() => statSync(join(on.dir, 'closed')));
  supervisor.link.send({ resize: { columns: 100, rows: 30 } });
  supervisor.link.send({ input: keys('x') });
  supervisor.link.send({ note: 'the last' });
  supervisor.link.close();
  await supervisor.link.closed;
  const next = await on.supervise();
  expect(next.link.hosted).toMatchObject({ note: 'the last', size: { columns: 100, rows: 30 } });
  writeFileSync(join(on.dir, 'go'), '');
  await until(() => expect(next.others).toMatchObject([{ ended: { code: 3 } }]));
  expect(readFileSync(ptyHostLog(on.dir), 'utf8')).toBe('');
});
