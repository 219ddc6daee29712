import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { adapters } from '@vigil/adapters';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentRow } from '../render/rows.fixture.ts';
import { hooksOf, type RunningSession, seenOf } from './sessions.ts';

const claude = adapters.find(({ name }) => name === 'claude-code');
if (claude === undefined) throw new Error('there is no adapter claude-code');
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'vigil-seen-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const INSTALLED_AT = 1_795_305_600_000;
const SUPERVISED = { VIGIL_SOCKET: '/s', VIGIL_INSTANCE_ID: 'i1' };
const GATEWAY = { VIGIL_GATEWAY_URL: 'http://127.0.0.1:7410', VIGIL_GATEWAY_TOKEN: 't' };

const session = (startedAt: number | null, env: Readonly<Record<string, string>>): RunningSession => ({
  ...{ pid: 1, adapter: claude, cwd: join(home, 'project'), startedAt, env: { HOME: home, ...env } },
  invocation: { headless: false, streamsEvents: false, printsProgress: false },
});

const installs = (file: string, hook: object): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ hooks: { Stop: [{ hooks: [hook] }] } }));
  utimesSync(file, INSTALLED_AT / 1000, INSTALLED_AT / 1000);
};
const ours = { type: 'command', command: 'node vigil.mjs hook --client claude-code' };
const posting = claude.install.http?.('http://127.0.0.1:7410/v1/hooks/claude-code', 'Stop') ?? {};
const inProject = () => join(home, 'project', '.claude', 'settings.json');
const ofUser = () => join(home, '.claude', 'settings.json');
const seen = (one: RunningSession) => seenOf(one, hooksOf(one), []);

test('a session that started before its hook was installed must be started again, one that started with it must not', () => {
  installs(inProject(), ours);
  expect(seen(session(INSTALLED_AT - 1, GATEWAY))).toBe('restart_to_be_seen');
  expect(seen(session(INSTALLED_AT, GATEWAY))).toBe('watched');
  expect(seen(session(null, GATEWAY))).toBe('restart_to_be_seen');
});

test('a session under vigil run that started before its hook is watched, and must be started again for the hook', () => {
  installs(inProject(), ours);
  expect(seen(session(INSTALLED_AT - 1, SUPERVISED))).toBe('restart_for_hook');
  expect(seen(session(INSTALLED_AT, SUPERVISED))).toBe('watched');
});

test('a session with its hook and no way to Vigil must be started again; a hook that posts needs the token only', () => {
  installs(inProject(), ours);
  expect(seen(session(INSTALLED_AT, {}))).toBe('restart_to_be_seen');
  expect(seen(session(INSTALLED_AT, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:7410' }))).toBe('restart_to_be_seen');
  installs(inProject(), posting);
  expect(seen(session(INSTALLED_AT, { VIGIL_GATEWAY_TOKEN: 't' }))).toBe('watched');
  expect(seen(session(INSTALLED_AT, {}))).toBe('restart_to_be_seen');
});

test('the hook of its user counts as that of its folder does, and the hook of another folder does not', () => {
  installs(join(home, 'other', '.claude', 'settings.json'), ours);
  expect(seen(session(INSTALLED_AT, GATEWAY))).toBe('unseen_without_hook');
  expect(seen(session(INSTALLED_AT, SUPERVISED))).toBe('watched_without_hook');
  installs(ofUser(), ours);
  expect(seen(session(INSTALLED_AT, GATEWAY))).toBe('watched');
});

test('a session whose hook has reported is watched, although its settings were written later', () => {
  installs(inProject(), ours);
  const one = session(INSTALLED_AT - 1, SUPERVISED);
  const reports = agentRow({ instanceId: 'i1', client: 'claude-code' });
  expect(seenOf(one, hooksOf(one), [reports])).toBe('watched');
  for (const other of [{ instanceId: 'i2' }, { client: 'codex' }, { client: null }])
    expect(seenOf(one, hooksOf(one), [{ ...reports, ...other }])).toBe('restart_for_hook');
});

test('the output stream of a headless client reports in place of its hook, and does not show that one is installed', () => {
  installs(inProject(), ours);
  const one = {
    ...session(INSTALLED_AT - 1, SUPERVISED),
    invocation: { headless: true, streamsEvents: true, printsProgress: true },
  };
  const reports = agentRow({ instanceId: 'i1', client: 'claude-code' });
  expect(seenOf(one, hooksOf(one), [reports])).toBe('restart_for_hook');
});
