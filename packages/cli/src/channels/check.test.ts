import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { vigilProgram } from '../program.fixture.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'vigil-alert-check-'));
  const good = 'default: [console, ops]\nchannels: { ops: { kind: pagerduty, routing_key_env: KEY } }\n';
  writeFileSync(path.join(folder, 'good.yaml'), good);
  writeFileSync(path.join(folder, 'bad.yaml'), 'channels: { phone: { kind: ntfy, topic: a b, timeout: 5x } }\n');
  writeFileSync(path.join(folder, 'secret.yaml'), 'channels: { ops: { kind: pagerduty } }\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Without a server: no address of one is set. */
const check = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [vigilProgram, 'alert', 'check', ...args], {
    cwd: folder,
    env: { PATH, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    printed.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, ...printed };
};

test('a good file ends with 0, and a secret that is not on this machine is a warning', async () => {
  const { code, out } = await check(['good.yaml']);
  expect([code, out]).toEqual([
    0,
    [
      'ok  good.yaml: channels console, ops (pagerduty); default console, ops',
      '  not on this machine: channels.ops.routing_key_env: KEY is not set: set it to the integration key of a service',
      '',
    ].join('\n'),
  ]);
  expect((await check(['good.yaml'], { KEY: 'hunter2' })).out).not.toMatch(/not on this machine|hunter2/);
});

test('each mistake has its file, key, value and remedy, and the command ends with 1', async () => {
  const { code, out, err } = await check(['bad.yaml']);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('bad.yaml has 2 mistakes:');
  expect(err).toContain('  - channels.phone.topic: "a b": write letters, digits, - and _, at most 64');
  expect(err).toContain('  - channels.phone.timeout: "5x" is not a duration: write one like 10m');
  expect((await check(['secret.yaml'])).err).toContain('channels.ops: write routing_key_env or routing_key_file');
});

test('for programs, mistakes are part of the answer', async () => {
  const bad = await check(['bad.yaml', '--json']);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.out)).toMatchObject({
    file: 'bad.yaml',
    channels: [],
    mistakes: [{}, {}].map(() => expect.any(String)),
  });
  const good = await check(['good.yaml', '--json'], { KEY: 'key' });
  expect([good.code, JSON.parse(good.out)]).toEqual([
    0,
    {
      ...{ file: 'good.yaml', default: ['console', 'ops'], mistakes: [], warnings: [] },
      channels: [{ name: 'ops', kind: 'pagerduty' }],
    },
  ]);
});

test('without a file it checks that of VIGIL_ALERTS_FILE, and a file that is not there ends with 2', async () => {
  expect((await check([], { VIGIL_ALERTS_FILE: 'good.yaml' })).out).toContain('ok  good.yaml');
  expect(await check([])).toMatchObject({ code: 2, err: expect.stringContaining('VIGIL_ALERTS_FILE is not set') });
  expect(await check(['none.yaml'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('none.yaml cannot be read (ENOENT): give a file that exists.'),
  });
});
