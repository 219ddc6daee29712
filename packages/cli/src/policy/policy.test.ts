import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { contentHash } from '@vigil/policy';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { vigilProgram } from '../program.fixture.ts';

/** Each test starts the command line several times. */

type Policy = { readonly policy: string; readonly signals: object; readonly states: object };
const policy = (name: string, after: string): Policy => ({
  policy: name,
  signals: { no_activity: { after } },
  states: { STUCK: ['no_activity'] },
});
const row = (document: Policy, origin: string) => ({
  name: document.policy,
  hash: contentHash(JSON.stringify(document)),
  origin,
  publishedBy: 'ada',
  publishedAt: 1,
  why: null,
  agents: 3,
  document,
});

/** A dashboard and an evaluator that takes every document but those of 13 min. */
let inForce: ReturnType<typeof row>[];
let refusals: object[];
const server = createServer(async (request, response) => {
  const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
  const [, , name] = (request.url ?? '').split('/').slice(1);
  if (request.method === 'GET' && name === undefined) return answer(200, { policies: inForce, refusals });
  if (request.method === 'GET') {
    const found = inForce.find((one) => one.name === name);
    return found ? answer(200, found) : answer(404, { detail: `policy "${name}" does not exist` });
  }
  let text = '';
  for await (const chunk of request) text += chunk;
  const command = JSON.parse(text);
  if (text.includes('13m')) refusals = [{ commandId: 'e-1', mistakes: ['default: there is no policy gone'] }];
  else
    inForce = inForce
      .filter((one) => one.name !== command.name)
      .concat(command.document ? row(command.document, 'applied') : []);
  return answer(202, { eventId: 'e-1', topic: 't', type: 'APPLY_POLICY', key: command.name });
});

let folder: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  folder = mkdtempSync(path.join(os.tmpdir(), 'vigil-policy-'));
  write('bad.yaml', '{ policy: bad, colour: red, signals: { no_activty: { after: 6m } }, states: {} }');
  write('mine.yaml', JSON.stringify(policy('mine', '8m')));
  write('unlucky.yaml', JSON.stringify(policy('mine', '13m')));
  write('assign.yaml', '{ rules: [{ id: "^ci-", policy: mine }], default: vigil }');
});
beforeEach(() => {
  inForce = [row(policy('mine', '6m'), 'file'), row(policy('other', '6m'), 'applied')];
  refusals = [];
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);

const vigil = async (...args: readonly string[]) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { PATH = '' } = process.env;
  const env = { PATH, VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: 'a-token-for-tests-only', USER: 'ada' };
  const child = spawn(process.execPath, [vigilProgram, 'policy', ...args], {
    cwd: folder,
    env,
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

test('check finds every mistake of every file without servers, and ends with 1', async () => {
  const { code, err } = await vigil('check', 'bad.yaml', 'assign.yaml', 'mine.yaml');
  expect(code).toBe(1);
  expect(err).toContain('bad.yaml: colour: there is no such key');
  expect(err).toContain('bad.yaml: signals.no_activty: there is no signal no_activty: did you mean no_activity?');
  const well = await vigil('check', 'mine.yaml', 'assign.yaml', '--json');
  expect(well.code).toBe(0);
  expect(JSON.parse(well.out).files).toMatchObject([{ name: 'mine' }, { name: 'assign.yaml' }]);
  expect((await vigil('check', 'nowhere.yaml')).code).toBe(2);
});

test('check names a file of alert channels as what it is', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'vigil-check-'));
  writeFileSync(path.join(folder, 'alerts.yaml'), 'default: [console]\nchannels: {}\n');
  const { code, err } = await vigil('check', folder);
  rmSync(folder, { recursive: true });
  expect(code).toBe(1);
  expect(err).toContain('alerts.yaml: is a file of alert channels, not of a policy: leave it out');
  expect(err).not.toContain('default');
});

test('list shows where policies come from, show prints one as YAML, diff prints the differences', async () => {
  expect((await vigil('list')).out).toMatch(/mine +[0-9a-f]{16} +file +3 +/);
  expect((await vigil('show', 'mine')).out).toContain('signals:\n  no_activity:\n    after: 6m');
  const { code, out } = await vigil('diff', 'mine', 'mine.yaml');
  expect([code, out]).toEqual([1, 'signals.no_activity.after: 6 min → 8 min\n']);
  expect((await vigil('show', 'missing')).code).toBe(1);
});

test('diff takes a word without a folder and an ending as a policy in force, also beside a folder of that name', async () => {
  mkdirSync(path.join(folder, 'mine'));
  const { code, out } = await vigil('diff', 'mine', './mine.yaml');
  rmdirSync(path.join(folder, 'mine'));
  expect([code, out]).toEqual([1, 'signals.no_activity.after: 6 min → 8 min\n']);
  write('draft', JSON.stringify(policy('draft', '8m')));
  expect((await vigil('diff', 'mine', 'draft')).code).toBe(1);
  rmSync(path.join(folder, 'draft'));
});

test('apply sends what changes and waits until it is in force; a dry run sends nothing', async () => {
  const before = inForce;
  const dry = await vigil('apply', 'mine.yaml', '--remove', 'other', '--dry-run');
  expect(dry.out).toMatch(
    /^mine [0-9a-f]{16} changes\n {2}signals\.no_activity\.after: 6 min → 8 min\nother is taken back\nThis was a dry run: nothing has been applied\.\n$/,
  );
  expect(inForce).toBe(before);
  const { code } = await vigil('apply', 'mine.yaml', '--remove', 'other');
  expect(code).toBe(0);
  expect(inForce).toMatchObject([{ name: 'mine', origin: 'applied', document: policy('mine', '8m') }]);
});

test('apply warns of a policy that assign.yaml does not permit, and not where the same command applies one that does', async () => {
  const assigned = { rules: [{ policy: 'other' }], default: 'other' };
  inForce = [...inForce, { ...row(policy('assign.yaml', '1m'), 'preset'), document: assigned as never }];
  const warning = 'no agent is judged by mine, also where it requests it: assign.yaml does not permit mine';
  const { code, out } = await vigil('apply', 'mine.yaml');
  expect([code, out]).toEqual([0, expect.stringContaining(`probably not meant so: ${warning}`)]);
  expect((await vigil('apply', 'mine.yaml', 'assign.yaml', '--dry-run')).out).not.toContain('probably not meant so');
});

test('a refusal of the evaluator ends with 1 and its reasons; a policy with mistakes is not sent', async () => {
  const { code, err } = await vigil('apply', 'unlucky.yaml');
  expect([code, err]).toEqual([1, 'vigil: mine is refused:\n  - default: there is no policy gone\n']);
  const before = inForce;
  expect((await vigil('apply', 'bad.yaml')).code).toBe(1);
  expect((await vigil('apply', '--remove', 'mine')).err).toContain('Nothing is applied under the name mine');
  expect(inForce).toBe(before);
});

test('another tool’s file becomes a policy; an unknown kind is answered with the known ones', async () => {
  write('.botbox.json', '{"project":{"name":"x"}}');
  expect((await vigil('import', 'nagios', 'x')).err).toContain('use one of adr-110');
});

test('a botbox file is migrated on paper, into itself only with --write, and not a second time', async () => {
  const before = '{\n  "project": { "name": "x" }\n}\n';
  write('.botbox.json', before);
  const stands = () => readFileSync(path.join(folder, '.botbox.json'), 'utf8');
  const paper = await vigil('import', 'botbox', '.botbox.json', '--migrate');
  expect(JSON.parse(paper.out)).toMatchObject({ project: { name: 'x' }, agents: { health: { enabled: true } } });
  expect(stands()).toBe(before);
  const written = await vigil('import', 'botbox', '.botbox.json', '--migrate', '--write');
  expect(written).toEqual({ code: 0, out: '.botbox.json has the defaults of agents.health now.\n', err: '' });
  expect(stands()).toBe(paper.out);
  const again = await vigil('import', 'botbox', '.botbox.json', '--migrate', '--write');
  expect(again.out).toBe('.botbox.json has agents.health already.\n');
  expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
});

test.each([
  [['gascity', 'x', '--migrate'], 2, 'use it with one of botbox'],
  [['botbox', '.botbox.json', '--write'], 2, '--write requires --migrate'],
  [['botbox', 'list.json', '--migrate', '--write'], 1, 'is not a JSON object'],
  [['botbox', 'nowhere.json', '--migrate'], 2, 'nowhere.json cannot be read (ENOENT)'],
  [['botbox', '.', '--migrate', '--write'], 2, '. cannot be read (EISDIR): give a file'],
  [['gascity', '.'], 2, '. cannot be read (EISDIR): give a file'],
])('import %o is refused, and nothing is written', async (args, code, text) => {
  write('list.json', '[]');
  const end = await vigil('import', ...args);
  expect(end).toMatchObject({ code, out: '' });
  expect(end.err).toContain(text);
  expect(readFileSync(path.join(folder, 'list.json'), 'utf8')).toBe('[]');
});
