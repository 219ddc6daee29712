import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTerminal, type Terminal } from '../clients/terminal.ts';

const vigil = path.resolve(import.meta.dirname, '../../.cache/bundles/vigil.mjs');
/** A dashboard that does not answer. */
const away = { VIGIL_DASHBOARD_URL: 'http://127.0.0.1:9', VIGIL_DASHBOARD_TOKEN: 'a-token-of-sixteen' };
const env = { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...away };

let folder: string;
let terminal: Terminal | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'vigil-init-'));
});
afterEach(async () => {
  await terminal?.end();
  rmSync(folder, { recursive: true });
});

const start = (): Terminal => startTerminal({ command: process.execPath, args: [vigil, 'init'], env, cwd: folder });
const initBySelf = (...args: readonly string[]) =>
  spawnSync(process.execPath, [vigil, 'init', ...args], { cwd: folder, env, encoding: 'utf8' });
const read = (name: string): string => readFileSync(path.join(folder, 'vigil', name), 'utf8');

test('init asks with defaults, does not show a secret, and ends with the next commands', async () => {
  terminal = start();
  await terminal.shows(/Name of your policy \[my-agents\]:/);
  terminal.type('builders\r');
  await terminal.shows(/Preset that it begins as .*\[vigil\]:/s);
  terminal.type('\r');
  await terminal.shows(/Write some of them, or none \[none\]:/);
  terminal.type('slack_webhook\r');
  await terminal.shows(/Slack: address of the incoming webhook:/);
  terminal.type('https://hooks.slack.example/quiet\r');
  await terminal.shows(/written +vigil\/alerts\.yaml[\s\S]*Next:[\s\S]*vigil policy apply/);
  await terminal.shows(/Send a test message to each channel now\?.*\[n\]:/s);
  terminal.type('\r');
  expect(await terminal.exited).toBe(0);
  expect(terminal.screen()).not.toContain('quiet');
  expect(read('secrets/slack')).toBe('https://hooks.slack.example/quiet\n');
  expect(statSync(path.join(folder, 'vigil/secrets/slack')).mode & 0o777).toBe(0o600);
  expect(read('policies/builders.yaml')).toContain('\npolicy: builders\n');
});

test('--test writes nothing, and shows for each channel why its message is not sent', () => {
  expect(initBySelf('--test')).toMatchObject({ status: 2, stderr: expect.stringContaining('run `vigil init` first') });
  expect(initBySelf('--yes').status).toBe(0);
  const channels =
    'default: [console]\nchannels: { phone: { kind: ntfy, topic: t }, ops: { kind: files, root: /w } }\n';
  writeFileSync(path.join(folder, 'vigil/alerts.yaml'), channels);
  const { stdout, status } = initBySelf('--test');
  expect(status).toBe(1);
  expect(stdout).toMatch(/^Test messages:\n {2}phone +not sent: .+\n {2}ops +not sent: .+\n$/);
  expect(read('alerts.yaml')).toBe(channels);
});

test('an existing file is replaced only after a yes', async () => {
  expect(initBySelf('--yes').status).toBe(0);
  writeFileSync(path.join(folder, 'vigil/alerts.yaml'), 'mine');
  expect(initBySelf('--yes').stdout).toMatch(/kept +vigil\/alerts\.yaml/);
  expect(read('alerts.yaml')).toBe('mine');
  terminal = start();
  for (const question of [/Name of/, /Preset that/, /or none/]) {
    await terminal.shows(question);
    terminal.type('\r');
  }
  await terminal.shows(/vigil\/alerts\.yaml exists and differs\. Replace it\? \(y, n\) \[n\]:/);
  terminal.type('maybe\r');
  await terminal.shows(/Write y or yes, or n or no\.\s+vigil\/alerts\.yaml exists/);
  terminal.type('\r');
  expect(await terminal.exited).toBe(0);
  expect(read('alerts.yaml')).toBe('mine');
  expect(initBySelf('--yes', '--overwrite').stdout).toMatch(/written +vigil\/alerts\.yaml/);
  expect(read('alerts.yaml')).toContain('default:');
});

test('without a terminal --yes is required, and nothing is written; Ctrl-C at a question writes nothing', async () => {
  expect(initBySelf()).toMatchObject({ status: 2, stderr: expect.stringContaining('run `vigil init --yes`') });
  terminal = start();
  await terminal.shows(/Name of your policy/);
  terminal.type('\u0003');
  await terminal.exited;
  expect(existsSync(path.join(folder, 'vigil'))).toBe(false);
});

test('for programs the files are JSON', () => {
  const { stdout, status } = initBySelf('--yes', '--json', '--dir', 'ops');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toContainEqual({ path: 'ops/alerts.yaml', outcome: 'written' });
});
