import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkSecrets, readChannels } from '@vigil/policy/channels';
import { afterAll, expect, test } from 'vitest';
import { lineOf } from '../sinks/console.ts';
import { alertEvent, sinkDeps } from '../sinks/sinks.fixture.ts';
import { openChannels } from './channels.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-channels-'));
afterAll(() => rmSync(dir, { recursive: true }));

const file = path.join(dir, 'alerts.yaml');
const config = { VIGIL_DASHBOARD_URL: 'http://127.0.0.1:7420' };
const open = (text?: string) => {
  if (text !== undefined) writeFileSync(file, text);
  const { routing, sinks } = openChannels(
    { ...config, VIGIL_ALERTS_FILE: text === undefined ? undefined : file },
    { ...sinkDeps, write: () => {} },
  );
  return { ...routing, sinks: sinks.map(({ name }) => name) };
};

test('without a file, and with an empty one, the console is notified', () => {
  const alone = { defaults: ['console'], configured: ['console'], sinks: ['console'] };
  expect(open()).toEqual(alone);
  expect(open('')).toEqual(alone);
});

test('channels have unique names, and the file names the default ones', () => {
  const text = `
default: [console, ops]
channels:
  ops: { kind: command, argv: [botbus, send, ops, '{title}'] }
  orchestrator: { kind: webhook, url: 'https://orchestrator.example/vigil', secret_env: VIGIL_WEBHOOK_SECRET }
  files: { kind: files, root: /srv/omni }
`;
  expect(open(text)).toEqual({
    defaults: ['console', 'ops'],
    configured: ['console', 'ops', 'orchestrator', 'files'],
    sinks: ['console', 'ops', 'orchestrator', 'files'],
  });
});

test('every mistake is reported at once, with its place and what to write', () => {
  const text = `
channels:
  Agent: { kind: files, root: /w }
  task: { kind: files, root: /w }
  pager: { kind: pager }
  bus: { kind: command, argv: [] }
`;
  const mistakes = [
    'channels.Agent: "Agent": write lower-case letters, digits, - and _',
    'channels.task: "task": write another name; these are reserved: default, console, agent, task, fleet',
    'channels.bus.argv: write the command and its arguments, such as [botbus',
  ];
  for (const mistake of mistakes) expect(() => open(text)).toThrow(mistake);
  expect(() => open(text)).toThrow(
    'channels.pager.kind: "pager": write kind: slack, kind: slack_webhook, kind: ntfy, kind: pagerduty, kind: alertmanager, kind: linear, kind: webhook, kind: command or kind: files',
  );
  expect(() => open('default: [ops]')).toThrow('default[0]: there is no channel ops: add it under channels');
});

test('a secret that is missing is reported with the channel that needs it', () => {
  const text = `channels: { hook: { kind: webhook, url: 'https://x.example/', secret_env: NOWHERE } }`;
  expect(() => open(text)).toThrow(/channels\.hook\.secret_env: NOWHERE is not set/);
});

test('all missing secrets of all channels are reported at once, each once, as by vigil alert check', () => {
  const text = `
channels:
  team: { kind: slack, channel: C012ABC34, token_env: NO_TOKEN, app_token_env: NO_APP_TOKEN }
  hook: { kind: webhook, url: 'https://x.example/', secret_env: NOWHERE }
`;
  const { away } = checkSecrets(readChannels(text, file), {});
  expect(away).toHaveLength(3);
  expect(() => open(text)).toThrow(
    `VIGIL_ALERTS_FILE ${file} cannot be used:\n${away.map((one) => `  ${one}`).join('\n')}`,
  );
});

test('a file that is not there, or no YAML, is refused', () => {
  const missing = { ...config, VIGIL_ALERTS_FILE: path.join(dir, 'none.yaml') };
  expect(() => openChannels(missing, { ...sinkDeps, write: () => {} })).toThrow(/none\.yaml cannot be read/);
  expect(() => open('channels: [')).toThrow(/cannot be used/);
});

test('a mistake in the file is reported with its place, and without the values in the file', () => {
  const text = "channels:\n  ops: { kind: webhook, url: 'https://a.example/hunter2, secret_env: X }";
  expect(() => open(text)).toThrow(/closing 'quote at line \d/);
  expect(() => open(text)).not.toThrow(/hunter2/);
});

test('the console names an unconfigured channel, and what to set', () => {
  expect(lineOf(alertEvent({ channels: ['default', 'slack'] }), ['console'])).toMatch(
    /\[requested by slack, sent here instead: name slack under channels in VIGIL_ALERTS_FILE\]$/,
  );
  expect(lineOf(alertEvent({ channels: ['default', 'console'] }), ['console'])).not.toContain('VIGIL_ALERTS_FILE');
});

test('the console separates what were lines, and the item of the inbox, also after the output of an agent', () => {
  const text = 'no attempt is left\nThe last output of loops:\n  Error: segment 7 is damaged\r\n\nDone.\n\u001b[1mbye';
  const line = (itemId: string | null) => lineOf(alertEvent({ text, itemId }), ['console']);
  const shown = 'no attempt is left; The last output of loops: Error: segment 7 is damaged; Done. [1mbye';
  expect(line(null)).toContain(`(${shown})`);
  expect(line('task/DEMO-1')).toContain(`(${shown}; task/DEMO-1 of \`vigil inbox\`)`);
});
