import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CorrectTheChannels, checkSecrets, readChannels } from './channels.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'vigil-read-channels-'));
afterAll(() => rmSync(folder, { recursive: true }));

const mistakesIn = (text: string): readonly string[] => {
  try {
    readChannels(text, 'alerts.yaml');
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(CorrectTheChannels);
    return (error as CorrectTheChannels).mistakes;
  }
};

test('a file has its channels with every setting, and an empty one has the console', () => {
  expect(readChannels('', 'alerts.yaml')).toEqual({ defaults: ['console'], channels: {} });
  expect(readChannels('channels: { phone: { kind: ntfy, topic: a } }', 'alerts.yaml').channels).toEqual({
    phone: { kind: 'ntfy', url: 'https://ntfy.sh', topic: 'a', timeout: 10_000 },
  });
});

test('every mistake has its key, its value and what to do', () => {
  const text = `
default: [ops, console]
colour: red
channels:
  slack: { kind: slack, channel: general, token_env: TOKEN, timeout: 5x }
  phone: { kind: ntfy, topik: a }
  pager: { kind: pager }
  none: {}
  Bus: { kind: command, argv: [bus, '{titel}'] }
  empty: { kind: command, argv: [] }
  files: { kind: files, root: srv, friction: ../out }
`;
  expect(mistakesIn(text).toSorted()).toEqual([
    expect.stringMatching(/^channels\.Bus: "Bus": write lower-case letters/),
    'channels.empty.argv: write the command and its arguments, such as [botbus, send, ops, "{title}"]',
    'channels.files.friction: "../out": write a folder below root',
    'channels.files.root: "srv": write it from / on: the service has a folder of its own',
    expect.stringMatching(/^channels\.none\.kind: is missing: write kind: slack, kind: slack_webhook/),
    expect.stringMatching(/^channels\.pager\.kind: "pager": write kind: slack/),
    expect.stringMatching(/^channels\.phone\.topic: is missing/),
    'channels.phone.topik: there is no such key: did you mean topic?',
    expect.stringMatching(/^channels\.slack\.channel: "general": write the channel's id/),
    expect.stringMatching(/^channels\.slack\.timeout: "5x" is not a duration/),
    'colour: there is no such key: write one of default, channels',
  ]);
  expect(mistakesIn('default: [ops]')).toEqual(['default[0]: there is no channel ops: add it under channels']);
  expect(mistakesIn('default: []')).toEqual(['default: name at least one channel, such as console']);
  const [placeholder] = mistakesIn("channels: { bus: { kind: command, argv: [bus, '{titel}'] } }");
  expect(placeholder).toMatch(/^channels\.bus\.argv\[1]: {titel} is not a placeholder: write one of {what}/);
});

test.each([
  ['an address', "{ kind: webhook, url: 'hunter2.example/path', secret_env: X }", 'url'],
  ['a token in the place of the name of its variable', '{ kind: pagerduty, routing_key_env: xoxb-hunter2 }', '_env'],
  ['a token under an unknown key', '{ kind: ntfy, topic: a, token: hunter2 }', 'token'],
  ['the arguments of a command', "{ kind: command, argv: ['--key=hunter2 {x}'] }", 'argv'],
  ['the variables of a command', '{ kind: command, argv: [bus], env: [K=hunter2] }', 'env'],
  ['the whole channel', 'https://hunter2.example', 'channels.one'],
  ['a list of them', '[hunter2]', 'channels.one'],
])('a mistake does not show what may be a secret: %s', (_, channel, key) => {
  const mistakes = mistakesIn(`channels: { one: ${channel} }`);
  expect(mistakes).toEqual([expect.stringContaining(key)]);
  expect(mistakes.join()).not.toContain('hunter2');
});

test('of a text that is not YAML the place is shown, and no line of it', () => {
  const mistakes = mistakesIn("channels:\n  ops: { kind: webhook, url: 'https://a.example/hunter2 }");
  expect(mistakes.join()).toMatch(/line \d/);
  expect(mistakes.join()).not.toContain('hunter2');
});

const secretsOf = (channel: string, env: Record<string, string> = {}) =>
  checkSecrets(readChannels(`channels: { one: ${channel} }`, 'alerts.yaml'), env);

test('a secret that is not on this machine is apart from the mistakes of a file, and a missing setting is one', () => {
  expect(secretsOf('{ kind: pagerduty, routing_key_env: KEY }')).toEqual({
    mistakes: [],
    away: ['channels.one.routing_key_env: KEY is not set: set it to the integration key of a service'],
  });
  expect(secretsOf('{ kind: pagerduty, routing_key_file: /nowhere/key }').away).toEqual([
    expect.stringMatching(/^channels\.one\.routing_key_file: \/nowhere\/key cannot be read/),
  ]);
  const both = /^channels\.one: write routing_key_env or routing_key_file, one of the two/;
  for (const channel of ['{ kind: pagerduty }', '{ kind: pagerduty, routing_key_env: A, routing_key_file: b }'])
    expect(secretsOf(channel)).toEqual({ mistakes: [expect.stringMatching(both)], away: [] });
});

test('a secret of another form, and an empty file, are mistakes', () => {
  const empty = path.join(folder, 'empty');
  writeFileSync(empty, ' \n');
  expect(secretsOf(`{ kind: linear, api_key_file: ${empty} }`).mistakes).toEqual([
    `channels.one.api_key_file: ${empty} is empty: write an API key of Linear into it`,
  ]);
  const webhook = secretsOf("{ kind: webhook, url: 'https://a.example', secret_env: S }", { S: 'hunter2' });
  expect(webhook.mistakes).toEqual([expect.stringMatching(/^channels\.one\.secret_env: S is not a secret/)]);
  const slack = secretsOf('{ kind: slack_webhook, url_env: S }', { S: 'hunter2' });
  expect(slack.mistakes).toEqual([expect.stringMatching(/^channels\.one\.url_env: S is not an address/)]);
  expect([webhook, slack].flatMap(({ mistakes }) => mistakes).join()).not.toContain('hunter2');
});

test.each([
  '{ kind: ntfy, topic: a }',
  "{ kind: alertmanager, url: 'http://a.example' }",
  '{ kind: command, argv: [bus] }',
  '{ kind: files, root: /srv }',
])('%s needs no secret', (channel) => {
  expect(secretsOf(channel)).toEqual({ mistakes: [], away: [] });
});
