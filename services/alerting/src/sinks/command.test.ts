import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { TryLater } from '../delivery/sink.ts';
import { command } from './command.ts';
import { alertEvent, escalation, sinkDeps } from './sinks.fixture.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-command-'));
afterAll(() => rmSync(dir, { recursive: true }));

const node = (script: string, ...args: readonly string[]) => [process.execPath, '-e', script, ...args];
const sink = (argv: readonly string[], timeout = '10s') =>
  command.open('ops', command.settings.parse({ kind: 'command', argv, timeout }), sinkDeps);
const failure = (argv: readonly string[], timeout?: string) =>
  sink(argv, timeout)
    .deliver(alertEvent())
    .then(
      () => null,
      (error: unknown) => error,
    );

test('it gets its arguments filled in, each as one, and the message as JSON on standard input', async () => {
  const file = path.join(dir, 'received');
  const script = `const fs = require('fs');
    const input = JSON.parse(fs.readFileSync(0, 'utf8'));
    fs.writeFileSync(${JSON.stringify(file)}, JSON.stringify({ args: process.argv.slice(1), type: input.type, id: input.data.id }));`;
  await sink(node(script, 'send', 'ops', '{title}: {text}', '{task}')).deliver(
    alertEvent({ title: '$(touch x); {task} `id`\n--force', text: 'a b' }),
  );
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    args: ['send', 'ops', '$(touch x); {task} `id` --force: a b', 'OMN-1234'],
    type: 'alert.raised',
    id: alertEvent().eventId,
  });
});

test('it gets the variables that every program needs and those that its sink names, and no other', async () => {
  const file = path.join(dir, 'environment');
  const script = `require('fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env))`;
  const env = {
    ...{ PATH: '/usr/bin', LC_ALL: 'C', BOTBUS_TOKEN: 'bus', SLACK_TOKEN: 'xoxb', KAFKA_BROKERS: '127.0.0.1:1' },
    ...{ DATABASE_URL: 'postgres://h/vigil', VIGIL_GATEWAY_SECRET: 's', VIGIL_DASHBOARD_TOKEN: 't' },
  };
  const settings = command.settings.parse({ kind: 'command', argv: node(script), env: ['BOTBUS_TOKEN'] });
  await command.open('ops', settings, { ...sinkDeps, env }).deliver(alertEvent());
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ PATH: '/usr/bin', LC_ALL: 'C', BOTBUS_TOKEN: 'bus' });
});

test('what an agent wrote is never an option, and an option of the configuration stays one', async () => {
  const file = path.join(dir, 'options');
  const script = `require('fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.argv.slice(1)))`;
  const argv = node(script, '--', '{text}', '{title}', '--note={text}', '{task}');
  await sink(argv).deliver(alertEvent({ title: '-x', text: '--all' }));
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([' --all', ' -x', '--note=--all', 'OMN-1234']);
});

test('a command that reads no input and prints a lot succeeds as well', async () => {
  const big = alertEvent({ text: 'x'.repeat(200_000) });
  await sink(node('process.stderr.write("y".repeat(300000))', '{text}')).deliver(big);
});

test('a command that fails, takes too long or does not exist is retried, with its output', async () => {
  expect(await failure(node('console.error("no bus"); process.exit(3)'))).toMatchObject({
    name: 'TryLater',
    message: expect.stringMatching(/ended with 3: no bus$/),
  });
  expect(await failure(node('setInterval(() => {}, 1000)'), '50ms')).toMatchObject({
    message: expect.stringMatching(/was ended by SIGKILL \(its timeout is 50 ms\)/),
  });
  expect(await failure(['/nowhere/botbus'])).toBeInstanceOf(TryLater);
});

test('a failure shows no secret that the command was given, though it prints them, and at most 500 characters', async () => {
  const env = { PATH: process.env.PATH, BUS_TOKEN: 'hunter2\n', BUS_URL: `https://bus/hunter2-${'x'.repeat(600)}` };
  const script = `const { BUS_TOKEN, BUS_URL } = process.env;
    const { links } = JSON.parse(require('fs').readFileSync(0, 'utf8')).data.decision;
    process.stderr.write('#'.repeat(2000) + BUS_TOKEN.trim() + BUS_URL + Object.values(links) + 'hun', () =>
      process.stderr.write('ter2 refused', () => process.exit(1)));`;
  const settings = command.settings.parse({ kind: 'command', argv: node(script), env: ['BUS_TOKEN', 'BUS_URL'] });
  const error = (await command
    .open('ops', settings, { ...sinkDeps, env })
    .deliver(escalation())
    .then(
      () => null,
      (why: unknown) => why,
    )) as Error;
  expect(error.message).toMatch(/link=…,http.+link=…… refused$/);
  expect(error.message).not.toMatch(/hunter2|xxx|eyJ/);
  expect(error.message.length).toBeLessThan(process.execPath.length + 550);
});

test('a placeholder that there is not is refused', () => {
  const read = command.settings.safeParse({ kind: 'command', argv: ['botbus', '{tittle}'] });
  expect(read.error?.issues[0]?.message).toMatch(/^{tittle} is not a placeholder: write one of {what}, {severity}/);
});
