import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { Topic } from '@vigil/events';
import type { Knowledge, Outcome } from '@vigil/read-model';
import { hashOfToken } from '@vigil/read-model/people';
import { openFileLog } from '@vigil/stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filesFor } from './commands/commands.ts';
import { vigilProgram } from './program.fixture.ts';
import { agentRow, CURRENT, caseStory, entry, explanation, fleetRow } from './render/rows.fixture.ts';

const TOKEN = 'a-token-for-tests-only';
const commands: unknown[] = [];
const tokenRequests: unknown[] = [];
const tokenRow = {
  tokenId: 't-1',
  kind: 'runtime',
  name: 'build-7',
  tasks: ['OMN-*'],
  labels: { team: ['core'] },
  policies: ['vigil'],
  capacity: 8,
  expiresAt: 4_000_000_000_000,
  by: 'ada',
  revoked: { by: 'eve', why: 'lost' },
};
/** As triage has decided it; the first request comes before that. */
const ticketRow = {
  ticketId: 't-1',
  severity: 'high',
  ticket: { cause: 'a loop\u001b[2J' },
  filedAt: 1,
  answer: 'intervene',
  analysis: 'severity is high: a loop',
};
let ticketLooks = 0;
let isUnacknowledged = false;
/** Why the dashboard refuses every command as wrong; null: it takes them. */
let mistake: string | null = null;
const alertRow = {
  alertId: 'alert-1',
  alertKey: 'fleet',
  text: 'it drops the database',
  title: 'worker-1: high ticket',
  severity: 'critical',
  raisedAt: 1,
  acknowledgedBy: null,
  resolvedAt: null,
};
const breakerRow = {
  ...{ name: 'external_api', agentId: 'worker-1', taskId: null, state: 'OPEN', failures: 5 },
  ...{ nextAttemptAt: null, since: 7000, trips: 1 },
};
const APPLIED: Outcome = {
  eventId: 'e-1',
  outcome: 'applied',
  reason: null,
  until: null,
  events: [entry('FLEET_HALTED', { by: 'ada\u001b[2J', why: 'the network is moved' })],
};
/** The answer to every request for an outcome but the first, which comes before it. */
let outcome: Outcome = APPLIED;
let outcomeLooks = 0;
const ONE_EVENT = { alsoFor: [] as readonly string[], eventIds: ['e-1'] };
let written = ONE_EVENT;
let fleet: Parameters<typeof fleetRow>[0] = {};
let knowledge: Knowledge = CURRENT;

const taskRow = {
  ...{ taskId: 'T-1', agentId: 'waits', state: 'HEALTHY', blockedReason: null, recovery: null, recoveryReason: null },
  ...{ recoveryAt: null, blockedAt: 8000, blockedAlertId: null, checkpoints: 0, lastCheckpoint: null },
  ...{ chain: [], recoveries: [] },
};
const inboxItem = {
  ...{ id: 'case/c-1', kind: 'case', since: 500, agentId: 'worker-1', taskId: null, text: null, deadlineAt: null },
  ...{ withoutAnswer: '', options: [], questions: [], command: null },
};
let openAlerts: readonly object[] = [alertRow];

/** Paths with their queries, as the dashboard received them. */
const listQueries: string[] = [];

/** A dashboard with two agents that accepts every command, and a gateway that creates any token. */
const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://x');
  const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
  if (request.headers.authorization !== `Bearer ${TOKEN}`) return answer(401, { detail: 'no' });
  if (url.pathname === '/v1/agents')
    return answer(200, { agents: [agentRow({ reason: 'a\u001b[2Jb', labels: { team: 'core', a: 'b=c' } })] });
  if (url.pathname === '/v1/fleet') return answer(200, { fleet: fleetRow(fleet), knowledge });
  if (url.pathname === '/v1/tickets') listQueries.push(`${url.pathname}${url.search}`);
  if (url.pathname === '/v1/tickets') return answer(200, { tickets: [ticketRow], next: null });
  if (url.pathname === '/v1/agents/worker-1/explain') {
    ticketLooks += 1;
    return answer(200, { tickets: ticketLooks < 2 ? [{ ...ticketRow, answer: null }] : [ticketRow] });
  }
  if (url.pathname === '/v1/agents/steady/explain')
    return answer(200, explanation({ agent: agentRow({ agentId: 'steady', state: 'HEALTHY' }) }));
  listQueries.push(`${url.pathname}${url.search}`);
  if (url.pathname === '/v1/cases' && url.searchParams.get('host') === 'two-pages')
    return url.searchParams.has('cursor')
      ? answer(200, { cases: [caseStory({ caseId: 'case-2' })], next: null })
      : answer(200, { cases: [caseStory({ caseId: 'case-1' })], next: 'c' });
  if (url.pathname === '/v1/cases') return answer(200, { cases: [caseStory({ openedAt: 5000, closedAt: 9000 })] });
  if (url.pathname === '/v1/breakers') return answer(200, { breakers: [breakerRow] });
  if (url.pathname === '/v1/tasks') return answer(200, { tasks: [taskRow] });
  if (url.pathname === '/v1/dead-letters')
    return answer(200, {
      deadLetters: [{ eventId: 'letter-1', service: url.searchParams.get('service'), leftOut: 0 }],
    });
  if (url.pathname === '/v1/agents/wroker-1')
    return answer(404, {
      type: 'urn:vigil:unknown_agent',
      detail: 'agent "wroker-1" does not exist; list them with `vigil health` (/v1/agents)',
    });
  if (url.pathname === '/v1/tasks/T-1') return answer(200, { ...taskRow, knowledge });
  if (url.pathname === '/v1/cases/case-1') return answer(200, { ...caseStory({ caseId: 'case-1' }), knowledge });
  if (url.pathname === '/v1/policies') return answer(200, { policies: [], refusals: [], next: null, knowledge });
  if (url.pathname === '/v1/policies/demo')
    return answer(200, { name: 'demo', why: null, document: { policy: 'demo' }, knowledge });
  if (url.pathname === '/v1/inbox') return answer(200, { inbox: [inboxItem], knowledge });
  if (url.pathname === '/v1/story') {
    const nudge = (eventId: string) => ({
      ...{ eventId, at: 1, type: 'NUDGE_SENT', agentId: 'worker-1', taskId: null, caseId: null },
      payload: { message: eventId, attempt: 1, of: 1 },
    });
    return url.searchParams.has('cursor')
      ? answer(200, { story: [nudge('a')], next: null })
      : answer(200, { story: [nudge('b'), nudge('c')], next: 'c' });
  }
  if (url.pathname === '/v1/silences') return answer(200, { silences: [] });
  if (url.pathname === '/v1/alerts') return answer(200, { alerts: openAlerts });
  if (url.pathname === '/v1/agents/worker-1') return answer(200, agentRow({ agentId: 'worker-1' }));
  if (url.pathname === '/v1/agents/done')
    return answer(200, agentRow({ agentId: 'done', state: 'TERMINATED', endReason: 'finished' }));
  if (url.pathname === '/v1/agents/steady')
    return answer(200, agentRow({ agentId: 'steady', state: 'HEALTHY', unhealthy: false }));
  if (url.pathname.startsWith('/v1/tokens')) {
    if (request.method === 'GET') return answer(200, { tokens: [tokenRow] });
    tokenRequests.push([url.pathname, await json(request)]);
    return answer(201, { token: 'a.b.c', tokenId: 't-1', expiresAt: 1 });
  }
  if (url.pathname === '/v1/commands') {
    commands.push(await json(request));
    if (mistake !== null) return answer(400, { type: 'urn:vigil:bad_command', detail: mistake });
    if (isUnacknowledged) return answer(504, { type: 'urn:vigil:not_acknowledged', detail: 'late', eventId: 'e-1' });
    return answer(202, { eventId: 'e-1', topic: 't', type: 'HALT_FLEET', key: 'fleet', ...written });
  }
  if (['/v1/commands/e-1', `/v1/commands/${COMMAND}`].includes(url.pathname)) {
    outcomeLooks += 1;
    return answer(200, { ...outcome, ...(outcomeLooks === 1 && { outcome: 'pending', events: [] }), knowledge });
  }
  if (url.pathname === '/v1/events') {
    response
      .writeHead(200)
      .write(`${JSON.stringify({ type: 'FLEET_HALTED', occurredAt: 1, payload: { by: 'ada' } })}\n`);
    return response.end();
  }
  return answer(404, { detail: `agent "${url.pathname.split('/').at(-1)}" does not exist` });
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

type End = { readonly code: number | null; readonly out: string; readonly err: string };

const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}, node = process.execPath) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { PATH = '' } = process.env;
  return spawn(node, [vigilProgram, ...args], {
    env: { PATH, VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: TOKEN, USER: 'ada', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
};

const vigil = async (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  node = process.execPath,
): Promise<End> => {
  const child = start(args, env, node);
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
};

test.each([
  ['health', 1],
  ['health steady --json', 0],
  ['--help', 0],
])('vigil %s ends without an error where no program reads its output', async (words, code) => {
  const child = start(words.split(' '));
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  expect(await once(child, 'close')).toEqual([code, null]);
  expect(err).toBe('');
});

/** The machine's own Node, if it is older than the pinned one. */
const olderNode = (): string | null => {
  const folders = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const isOlder = (node: string) => {
    const [major = 0, minor = 0] = spawnSync(node, ['-p', 'process.versions.node'])
      .stdout.toString()
      .split('.')
      .map(Number);
    return major < 24 && (major > 20 || (major === 20 && minor >= 16));
  };
  return folders.find((node) => existsSync(node) && isOlder(node)) ?? null;
};

test.skipIf(olderNode() === null)('commands that only ask a server give the same on an older Node', async () => {
  const words = filesFor(undefined).flatMap(({ names, node }) => (node === 'any' ? names : []));
  const commands = words.map((word) => [word, '--help']);
  commands.push(['health'], ['health', 'worker-1', '--json'], ['explain', 'missing'], ['case', 'list']);
  for (const command of commands) expect(await vigil(command, {}, olderNode() ?? '')).toEqual(await vigil(command));
});

test('a healthy agent ends with 0, as JSON for programs', async () => {
  const { code, out } = await vigil(['health', 'steady', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ agent: 'steady', status: 'healthy', errors: [] });
});

test('an unhealthy agent ends with 1, and its texts cannot control the terminal', async () => {
  const { code, out } = await vigil(['health', '--filter', 'unhealthy']);
  expect(code).toBe(1);
  expect(out).toContain('STUCK');
  expect(out).toContain('ab');
  expect(out).not.toContain('\u001b');
});

test.each([['--policy'], ['--task']])(
  'an unknown name after %s is refused, and is not an empty table',
  async (option) => {
    const { code, out, err } = await vigil(['health', '--policy', 'nosuch', option, 'nosuch']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('"nosuch" does not exist');
  },
);

test('answers of a blind dashboard are shown as old, and end with 2', async () => {
  knowledge = { upTo: 1, blindSince: 1, away: [] };
  const { code, out } = await vigil(['health', 'steady']);
  const inJson = await vigil(['health', 'steady', '--json']);
  const explained = await vigil(['explain', 'steady']);
  const policies = await vigil(['policy', 'list']);
  knowledge = CURRENT;
  expect(policies).toMatchObject({ code: 2, out: expect.stringMatching(/^BLIND since /) });
  expect(code).toBe(2);
  expect(out).toMatch(/^BLIND since /);
  expect(out).toContain('was HEALTHY');
  expect(explained).toMatchObject({ code: 2, out: expect.stringMatching(/^BLIND since .*\nsteady was HEALTHY/) });
  expect(inJson.code).toBe(2);
  expect(JSON.parse(inJson.out)).toMatchObject({
    as_of: '1970-01-01T00:00:00.001Z',
    blind_since: '1970-01-01T00:00:00.001Z',
  });
});

test('what holds the whole fleet stands first, and not in what programs read', async () => {
  fleet = { braked: true, brakeScope: 'fleet', brakeWhy: '3 of 14 lost within 30 s (fleet)' };
  for (const args of [['health'], ['health', 'steady']]) {
    const { out } = await vigil(args);
    expect(out.split('\n')[0]).toBe('BRAKE on fleet: 3 of 14 lost within 30 s (fleet)');
    expect(JSON.parse((await vigil([...args, '--json'])).out)).toBeTruthy();
  }
  fleet = {};
  expect((await vigil(['health'])).out).toMatch(/^AGENT/);
});

test('agents are shown by policy and by every given label', async () => {
  const shown = async (...args: readonly string[]) =>
    JSON.parse((await vigil(['health', '--json', ...args])).out).length;
  expect(await shown('--label', 'team=core', '--label', 'a=b=c')).toBe(1);
  expect(await shown('--label', 'team=core', '--label', 'a=b')).toBe(0);
  expect(await shown('--label', 'team=other')).toBe(0);
  expect([await shown('--policy', 'vigil'), await shown('--policy', 'demo')]).toEqual([1, 0]);
  expect((await vigil(['health', '--label', 'team'])).err).toContain('Give name=value, such as team=core.');
});

test('an unknown agent ends with 1 and a message', async () => {
  expect(await vigil(['health', 'missing'])).toEqual({
    code: 1,
    out: '',
    err: 'vigil: agent "missing" does not exist\n',
  });
});

test('an unknown name ends with 1, the nearest known one, and the command that lists them', async () => {
  const err = 'vigil: agent "wroker-1" does not exist; did you mean worker-1? List them with `vigil health`\n';
  expect(await vigil(['health', 'wroker-1'])).toEqual({ code: 1, out: '', err });
});

test('policy show reports its age on stderr, because its output is a policy', async () => {
  knowledge = { upTo: 1, blindSince: 1, away: [] };
  const shown = await vigil(['policy', 'show', 'demo']);
  knowledge = CURRENT;
  expect(shown).toMatchObject({
    code: 2,
    out: expect.stringMatching(/^# demo /),
    err: expect.stringContaining('BLIND'),
  });
});

const COMMAND = '6b1f6b6e-0c7e-4a53-9f5e-1f6f3d3a0001';

const VIEWS = [
  ...['case', 'task', 'breaker', 'alert', 'ticket', 'policy'].map((kind) => [kind, 'list']),
  ...[['inbox'], ['health'], ['explain', 'steady'], ['task', 'show', 'T-1'], ['case', 'show', 'case-1']],
  ['command', 'show', COMMAND],
];

test.each(VIEWS)(
  'vigil %s %s states first that Vigil is blind, or which part is away, and ends with 2 while it is blind',
  async (...args) => {
    outcomeLooks = 1;
    const away = [{ part: 'recovery', since: 1, detail: 'no answer' }];
    const looked = async (now: Knowledge) => {
      knowledge = now;
      const [people, programs] = [await vigil(args), await vigil([...args, '--json'])];
      knowledge = CURRENT;
      return { people, programs };
    };
    const blind = await looked({ upTo: 1, blindSince: 1, away: [] });
    expect(blind.people).toMatchObject({ code: 2, out: expect.stringMatching(/^BLIND since /) });
    expect(blind.programs.code).toBe(2);
    expect(JSON.parse(blind.programs.out)).toBeTruthy();
    if (args[0] !== 'health') expect(blind.programs.err).toMatch(/^vigil: BLIND since /);
    const { people, programs } = await looked({ upTo: 1, blindSince: null, away });
    expect(people.out).toMatch(/^AWAY {2}recovery since .*: no answer\n/);
    expect(people.code).not.toBe(2);
    if (args[0] !== 'health') expect(programs.err).toMatch(/^vigil: AWAY {2}recovery since /);
    expect((await vigil(args)).out).not.toMatch(/BLIND|AWAY/);
  },
);

test('a task shows its state as an old one while Vigil is blind', async () => {
  knowledge = { upTo: 1, blindSince: 1, away: [] };
  const { out } = await vigil(['task', 'show', 'T-1']);
  knowledge = CURRENT;
  expect(out).toContain('T-1 was held by waits (was HEALTHY)');
  expect((await vigil(['task', 'show', 'T-1'])).out).toContain('T-1 is held by waits (HEALTHY)');
});

test('an alert is acknowledged by its agent or the beginning of its id, and a name of several is refused with their ids', async () => {
  const ack = (name: string) => vigil(['alert', 'ack', name, '--why', 'x']);
  openAlerts = [alertRow, { ...alertRow, alertId: 'other', agentId: 'worker-7', taskId: 'T-7' }];
  for (const [name, alertId] of [
    ['worker-7', 'other'],
    ['othe', 'other'],
    ['T-7', 'other'],
    ['alert-1', 'alert-1'],
    ['unknown', 'unknown'],
  ] as const) {
    expect((await ack(name)).code).toBe(0);
    expect(commands.at(-1)).toMatchObject({ kind: 'acknowledge', alertId });
  }
  const before = commands.length;
  openAlerts = [alertRow, { ...alertRow, alertId: 'alert-2' }];
  expect(await ack('aler')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/names 2 open alerts.*alert-1.*alert-2/s),
  });
  expect(commands).toHaveLength(before);
  openAlerts = [alertRow];
});

test('tickets are asked for by the time in which they were filed', async () => {
  listQueries.length = 0;
  await vigil(['ticket', 'list', '--since', '2026-11-27', '--until', '2h ago']);
  expect(listQueries.filter((one) => one.startsWith('/v1/tickets'))).toEqual([
    expect.stringMatching(/since=1795737600000&until=\d{13}&limit=1000/),
  ]);
});

test('lists show what was there between --since and --until', async () => {
  const shown = async (kind: string, since: string, until: string) =>
    JSON.parse((await vigil([kind, 'list', '--json', '--since', since, '--until', until])).out).length;
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();
  expect([await shown('case', at(9), at(99)), await shown('case', at(10), at(99))]).toEqual([1, 0]);
  expect([await shown('breaker', at(7), at(7)), await shown('breaker', at(8), at(9))]).toEqual([1, 0]);
  expect([await shown('task', at(8), at(8)), await shown('task', at(9), at(99))]).toEqual([1, 0]);
  const alerts = async (...args: readonly string[]) =>
    JSON.parse((await vigil(['alert', 'list', '--json', ...args])).out).alerts.length;
  expect([await alerts('--until', at(1)), await alerts('--until', at(0))]).toEqual([1, 0]);
  expect((await vigil(['case', 'list', '--since', 'yesterday'])).err).toContain(
    'Give a duration such as 2h, or a time',
  );
});

test('the version is printed, and help has the usage of a command at any depth', async () => {
  expect((await vigil(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await vigil(['help', 'case', 'decide'])).out).toMatch(/^Usage: vigil case decide /);
  expect((await vigil(['case', 'list', '--help'])).out).toMatch(/^Usage: vigil case list /);
  expect(await vigil(['help', 'case', 'lits'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('did you mean list?'),
  });
  expect((await vigil(['completion', 'bash'])).out).toContain('complete -o default -F _vigil vigil');
});

test('a dashboard that does not answer ends with 2, its address and the remedy', async () => {
  const { code, err } = await vigil(['health'], { VIGIL_DASHBOARD_URL: 'http://127.0.0.1:9' });
  expect(code).toBe(2);
  expect(err).toContain('http://127.0.0.1:9 does not answer');
  expect(err).toContain('npm start');
});

test.each([
  [{ VIGIL_DASHBOARD_TOKEN: '' }, 'Vigil does not run here: VIGIL_DASHBOARD_TOKEN is not set'],
  [{ VIGIL_DASHBOARD_TOKEN: 'another-token-altogether' }, "VIGIL_DASHBOARD_TOKEN is not the dashboard's"],
  [{ VIGIL_DASHBOARD_URL: 'nonsense' }, '"nonsense"'],
])('settings that are wrong are named: %o', async (env, text) => {
  const { code, err } = await vigil(['health'], env);
  expect(code).toBe(2);
  expect(err).toContain(text);
});

test.each([
  [['health', '--filter', 'odd']],
  [['health', '--state', 'foo']],
  [['case', 'decide', 'c', 'explode', '--why', 'x']],
  [['case', 'decide', 'c', 'pardon']],
  [['hold', 'a', '--for', 'ages']],
  [['nonsense']],
])('a question that is wrong ends with 2: %o', async (args) => {
  expect((await vigil(args)).code).toBe(2);
});

const halted = (...more: readonly string[]): Promise<End> => {
  outcomeLooks = 0;
  return vigil(['halt', '--why', 'the network is moved', ...more]);
};

test('lists are read page after page, and select by host and by all labels', async () => {
  listQueries.length = 0;
  const args = ['case', 'list', '--json', '--all', '--host', 'two-pages', '--label', 'team=core', '--label', 'tier=1'];
  const cases = JSON.parse((await vigil(args)).out) as readonly { readonly caseId: string }[];
  expect(cases.map(({ caseId }) => caseId)).toEqual(['case-1', 'case-2']);
  const selected = 'host=two-pages&label=team%3Dcore&label=tier%3D1';
  const asked = listQueries.filter((one) => one.startsWith('/v1/cases'));
  expect(asked).toEqual([`/v1/cases?${selected}`, `/v1/cases?${selected}&cursor=c`]);
  await vigil(['alert', 'list', '--json', '--all', '--label', 'team=core']);
  expect(listQueries).toContain('/v1/alerts?label=team%3Dcore');
  expect((await vigil(['alert', 'list', '--label', 'core'])).err).toContain('Give name=value');
});

test('a silence takes an agent, a task and a case by the names of the columns', async () => {
  await vigil([
    'alert',
    'silence',
    'agent=worker-1',
    'task=T-1',
    'case=c-1',
    'team=red',
    '--for',
    '1m',
    '--why',
    'x',
    '--no-wait',
  ]);
  expect(commands.at(-1)).toMatchObject({
    kind: 'silence',
    matchers: [
      { field: 'agentId', value: 'worker-1' },
      { field: 'taskId', value: 'T-1' },
      { field: 'caseId', value: 'c-1' },
      { field: 'team', value: 'red' },
    ],
  });
});

test('a hold lasts 30 days at most, and the help of a decision names what each does', async () => {
  expect(await vigil(['hold', 'worker-1', '--for', '31d'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('Give at most 30d.'),
  });
  expect((await vigil(['case', 'decide', '--help'])).out).toMatch(/\n {2}pardon +the case is closed/);
});

test('a command that Kafka has not acknowledged is followed by its id: applied ends with 0, and without a wait the end is 1 with the command to follow', async () => {
  isUnacknowledged = true;
  const waited = await halted();
  const alone = await halted('--no-wait');
  isUnacknowledged = false;
  commands.length = 0;
  expect(waited.code).toBe(0);
  expect(waited.out).toMatch(
    /^Kafka has not acknowledged the command e-1 in time: it may still be applied\.\n.*\nDone: /,
  );
  expect(alone).toMatchObject({ code: 1, err: expect.stringContaining('vigil command show e-1') });
});

test('a command is shown by its id: 0 once it is applied, 1 while it is not decided', async () => {
  outcomeLooks = 0;
  const first = await vigil(['command', 'show', COMMAND]);
  expect(first).toMatchObject({ code: 1, out: expect.stringContaining(`vigil command show ${COMMAND} --wait`) });
  expect(await vigil(['command', 'show', COMMAND])).toMatchObject({ code: 0, out: expect.stringMatching(/^Done: /) });
});

test('an id that no command can have does not exist', async () => {
  const { code, err } = await vigil(['command', 'show', 'nope']);
  expect([code, err]).toEqual([1, expect.stringContaining('command "nope" does not exist: give an id like ')]);
});

test('an item that the inbox never has does not exist, and the message names the forms of items', async () => {
  const { code, err } = await vigil(['inbox', 'answer', 'nope', 'retry']);
  expect([code, err]).toEqual([1, expect.stringContaining('"nope" is not an item of the inbox')]);
});

test('help marks each required option, in the usage and beside it; the list of commands has the same usage', async () => {
  const help = (await vigil(['case', 'decide', '--help'])).out;
  expect(help).toMatch(/^Usage: vigil case decide \[options\] --why <text> <case> <decision>\n/);
  expect(help).toMatch(/--why <text> .*\(required\)/);
  expect((await vigil(['--help'])).out).toContain('nudge <agent> --message <text> [options]');
});

test.each([[['frob']], [['health', '--frob']], [['health', 'a', 'b', 'c']]])(
  'the error of %o begins with the name of the program',
  async (args) => {
    expect(await vigil(args)).toMatchObject({ code: 2, err: expect.stringMatching(/^vigil: /) });
  },
);

test('a halt records its author and its reason, waits for its outcome, and prints it without control characters', async () => {
  const { code, out } = await halted();
  expect(code).toBe(0);
  expect(out).toMatch(/^Requested: a halt of the fleet\.\nDone: .*ada.*\.\n$/);
  expect(out).not.toContain('\u001b');
  expect(outcomeLooks).toBe(2);
  expect(commands).toEqual([{ kind: 'halt', by: 'ada', why: 'the network is moved' }]);
});

test('a command that does not wait prints the command that shows its outcome', async () => {
  const { code, out } = await halted('--no-wait');
  expect({ code, out }).toEqual({
    code: 0,
    out: 'Requested: a halt of the fleet.\nWhat becomes of it: vigil health\n',
  });
  expect(outcomeLooks).toBe(0);
});

test('a control character in --by or --why is refused in the words of the dashboard, and ends with 2', async () => {
  mistake = 'by: has the control character U+001B: leave it out';
  const refused = await vigil(['halt', '--by', 'ada\u001b[2J', '--why', 'x']);
  mistake = null;
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('U+001B: leave it out') });
  expect(refused.err).not.toContain('\u001b');
});

test('a command that is refused ends with 1 and the reason, also for programs', async () => {
  outcome = { ...APPLIED, outcome: 'refused', reason: 'the fleet is halted already', events: [] };
  const { code, out } = await halted();
  expect({ code, out }).toEqual({
    code: 1,
    out: 'Requested: a halt of the fleet.\nRefused: the fleet is halted already.\n',
  });
  const program = await halted('--json');
  outcome = APPLIED;
  expect(program.code).toBe(1);
  expect(JSON.parse(program.out)).toMatchObject({ eventId: 'e-1', topic: 't', outcome: 'refused' });
});

test.each([
  [
    ['nudge', 'worker-1', '--message', 'Save, please.', '--no-wait', '--why', 'x'],
    { kind: 'request_step', agentId: 'worker-1', step: 'nudge', message: 'Save, please.' },
  ],
  [['recover', 'worker-1', '--why', 'x'], { kind: 'request_step', agentId: 'worker-1', step: 'terminate_and_recover' }],
  [['restart', 'worker-1', '--why', 'x'], { kind: 'request_step', agentId: 'worker-1', step: 'restart' }],
  [['host', 'gone', 'build-7', '--why', 'x'], { kind: 'host_gone', host: 'build-7' }],
  [['dry-run', 'on', '--why', 'x'], { kind: 'dry_run', on: true }],
  [
    ['breaker', 'reset', 'worker-1', 'external_api', '--why', 'x'],
    { kind: 'reset_breaker', agentId: 'worker-1', name: 'external_api' },
  ],
  [
    ['ticket', 'file', 'worker-1', '--severity', 'high', '--cause', 'a loop', '--id', 't-1', '--no-wait', '--why', 'x'],
    { kind: 'file_ticket', agentId: 'worker-1', ticketId: 't-1', severity: 'high', cause: 'a loop' },
  ],
  [
    ['ticket', 'notify', 't-1', '--urgency', 'critical', '--no-wait', '--why', 'x'],
    { kind: 'notify_operator', ticketId: 't-1', urgency: 'critical' },
  ],
  [['alert', 'ack', 'alert-1', '--why', 'x'], { kind: 'acknowledge', alertId: 'alert-1' }],
])('%o is one command, with who asks and why', async (args, command) => {
  const { code, out, err } = await vigil(args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).not.toMatch(/[A-Z]+_[A-Z]+/);
  expect(commands.at(-1)).toEqual({ ...command, by: 'ada', why: 'x' });
});

test('an answer to a case names the question that the inbox shows; where none waits, nothing is written', async () => {
  const answer = (item: string) => vigil(['inbox', 'answer', item, 'pardon', '--why', 'x']);
  expect(await answer('case/c-1')).toMatchObject({ code: 0 });
  const command = { kind: 'decide_case', caseId: 'c-1', decision: 'pardon', askedAt: 500, by: 'ada', why: 'x' };
  expect(commands.at(-1)).toEqual(command);
  const { code, err } = await answer('case/c-2');
  expect(code).not.toBe(0);
  expect(err).toContain('case/c-2 waits for no answer');
  expect(commands.at(-1)).toEqual(command);
});

test('a command of several events is waited for until all are decided, and their count is printed', async () => {
  written = { alsoFor: ['worker-2'], eventIds: ['e-1', 'e-2'] };
  outcome = { ...APPLIED, reason: '2 of 2 confirmed' };
  outcomeLooks = 0;
  const done = await vigil(['host', 'gone', 'build-7', '--why', 'x']);
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining('Done: 2 of 2 confirmed.') });
  expect(done.out).toContain('It is written for each of fleet, worker-2.');
  expect(outcomeLooks).toBeGreaterThan(1);
  outcome = { ...APPLIED, outcome: 'refused', reason: '1 of 2 confirmed; worker-2 is instance i2 now' };
  const refused = await vigil(['host', 'gone', 'build-7', '--why', 'x']);
  [written, outcome] = [ONE_EVENT, APPLIED];
  expect(refused).toMatchObject({
    code: 1,
    out: expect.stringContaining('Refused: 1 of 2 confirmed; worker-2 is instance i2 now.'),
  });
});

const reported = (became: Outcome['outcome'], receipt: string, why: string | null): Outcome => ({
  ...APPLIED,
  outcome: became,
  events: [entry('ORDER_RECEIPT', { kind: 'nudge', outcome: receipt, why, runtimeId: 'host-1' })],
});
const nudged = async (found: Outcome, ...more: readonly string[]): Promise<End> => {
  [outcome, outcomeLooks] = [found, 0];
  const end = await vigil(['nudge', 'worker-1', '--message', 'Save, please.', ...more]);
  outcome = APPLIED;
  return end;
};

const file = (...more: readonly string[]) =>
  vigil([
    'ticket',
    'file',
    'worker-1',
    '--severity',
    'high',
    '--cause',
    'a loop',
    '--id',
    't-1',
    '--why',
    'x',
    ...more,
  ]);

test('a filed ticket waits for triage, and prints its decision without control characters', async () => {
  ticketLooks = 0;
  const { code, out, err } = await file();
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('Requested: the triage of ticket t-1 about worker-1.\n');
  expect(out).toMatch(/high ticket t-1: a loop; .*: severity is high: a loop\n$/);
  expect(out).not.toContain('\u001b');
});

test('a filed ticket is its event for programs, which wait for nothing', async () => {
  const { code, out } = await file(
    '--json',
    '--steps',
    '12',
    '--stall',
    '90s',
    '--action',
    'restart',
    '--evidence',
    'e',
  );
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ eventId: 'e-1' });
  expect(commands.at(-1)).toMatchObject({
    stepsSinceAccept: 12,
    stallMs: 90_000,
    suggestedAction: 'restart',
    evidence: 'e',
  });
});

test('a notification of people waits for the alert with its text', async () => {
  const { code, out } = await vigil(['ticket', 'notify', 't-1', '--urgency', 'high', '--why', 'it drops the database']);
  expect(code).toBe(0);
  expect(out).toContain('critical  worker-1: high ticket (open)');
});

test.each([
  [['ticket', 'file', 'worker-1', '--cause', 'c', '--why', 'x'], '--severity'],
  [['ticket', 'file', 'worker-1', '--severity', 'bad', '--cause', 'c', '--why', 'x'], 'low, medium, high, critical'],
  [
    ['ticket', 'file', 'worker-1', '--severity', 'low', '--cause', 'c', '--why', 'x', '--steps', '1.5'],
    'Give a count from 0',
  ],
  [['ticket', 'notify', 't-1', '--urgency', 'high'], '--why'],
])('%o is refused with what is missing or wrong', async (args, words) => {
  const before = commands.length;
  const { code, err } = await vigil(args);
  expect(code).not.toBe(0);
  expect(err).toContain(words);
  expect(commands).toHaveLength(before);
});

test('a nudge waits for its receipt, and reports that the agent has it', async () => {
  const { code, out } = await nudged(reported('applied', 'delivered', null));
  expect([code, outcomeLooks]).toEqual([0, 2]);
  expect(out).toContain('Requested: a text to worker-1, "Save, please.".\n');
  expect(out).toContain('worker-1 has it: host-1 reports delivered');
});

test.each([
  [
    reported('refused', 'expired', 'it waited: nothing is typed into a dialog'),
    'expired: it waited: nothing is typed into a dialog',
  ],
  [reported('applied', 'uncertain', 'nothing confirms it'), 'uncertain: nothing confirms it'],
])('a nudge that did not reach its agent reports the reason, and ends with 1', async (found, why) => {
  const { code, out } = await nudged(found);
  expect(code).toBe(1);
  expect(out).toContain(why);
  expect(out).not.toContain('worker-1 has it');
});

test('a nudge during a halt prints at once that it is refused, although no case was opened', async () => {
  const refused = { ...APPLIED, outcome: 'refused', reason: 'halted: ada has halted the fleet', events: [] } as const;
  expect(await nudged(refused)).toMatchObject({
    code: 1,
    out: expect.stringContaining('\nRefused: halted: ada has halted the fleet.\n'),
  });
});

test('a nudge that nothing confirms may have reached its agent, and is not called missed', async () => {
  const { code, out } = await nudged(reported('applied', 'uncertain', 'nothing confirms it'));
  expect(code).toBe(1);
  expect(out).toContain('worker-1 may have it');
  expect(out).not.toContain('was not reached');
});

test('a nudge of an agent that has ended, or that does not exist, is refused and not sent', async () => {
  const before = commands.length;
  expect(await vigil(['nudge', 'done', '--message', 'x'])).toEqual({
    code: 1,
    out: '',
    err: 'vigil: done has ended: finished; only a running agent can receive a text.\n',
  });
  expect(await vigil(['nudge', 'missing', '--message', 'x'])).toMatchObject({
    code: 1,
    err: 'vigil: agent "missing" does not exist\n',
  });
  expect(commands).toHaveLength(before);
});

test('a nudge without a text is refused and not sent: the reason is not the text', async () => {
  const before = commands.length;
  const { code, err } = await vigil(['nudge', 'worker-1', '--why', 'x']);
  expect(code).not.toBe(0);
  expect(err).toContain("required option '--message <text>' not specified");
  expect(commands).toHaveLength(before);
});

test('a nudge without arguments names all that is missing, and one without an agent only the agent', async () => {
  const nothing = await vigil(['nudge']);
  expect(nothing).toMatchObject({
    code: 2,
    err: "vigil: missing required argument 'agent'; required option '--message <text>' not specified\n",
  });
  const agentless = await vigil(['nudge', '--message', 'x']);
  expect(agentless).toMatchObject({ code: 2, err: "vigil: missing required argument 'agent'\n" });
});

test('a resume without a halt is refused and not written', async () => {
  const before = commands.length;
  const { code, err } = await vigil(['resume', '--why', 'x']);
  expect({ code, err }).toEqual({ code: 1, err: 'vigil: the fleet is not halted: there is nothing to resume\n' });
  expect(commands).toHaveLength(before);
});

test.each([
  [reported('applied', 'delivered', null), 0, 'applied'],
  [reported('applied', 'uncertain', 'nothing confirms it'), 1, 'pending'],
  [reported('refused', 'expired', 'it waited'), 1, 'refused'],
] as const)('for programs a nudge has its event and its outcome', async (found, ends, became) => {
  const { code, out } = await nudged(found, '--json');
  expect(code).toBe(ends);
  expect(JSON.parse(out)).toMatchObject({ eventId: 'e-1', outcome: became, reason: expect.any(String) });
});

test('a nudge that is not waited for is written', async () => {
  const { code, out } = await nudged(APPLIED, '--json', '--no-wait');
  expect({ code, eventId: JSON.parse(out).eventId, outcomeLooks }).toEqual({
    ...{ code: 0, eventId: 'e-1', outcomeLooks: 0 },
  });
});

test.each([
  [['nudge', 'worker-1', '--message', '  '], 'Write a text of at least one character'],
  [['alert', 'silence', 'route=stuck_agent'], 'Give at least one matcher and --for'],
  [['alert', 'silence', 'foo', '--for', '1m'], '"foo" is not a matcher: write FIELD=VALUE'],
  [['alert', 'silence', '--end', 's-1', '--for', '1m'], '--end ends one silence'],
  [['breaker', 'reset', 'OMN-1', 'recovery_attempt'], 'vigil task review TASK reset'],
])('a wrong argument is not written, ends with 2, and its error names what to give: %j', async (args, remedy) => {
  const before = commands.length;
  const { code, err } = await vigil([...args, '--why', 'x']);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(remedy) });
  expect(commands).toHaveLength(before);
});

test('a brake is lifted by one command; one that is not engaged cannot be lifted, and nothing is written', async () => {
  fleet = { braked: true };
  expect(await vigil(['brake', 'lift', '--why', 'x'])).toMatchObject({ code: 0, err: '' });
  expect(commands.at(-1)).toEqual({ kind: 'lift_brake', by: 'ada', why: 'x' });
  fleet = {};
  const before = commands.length;
  expect(await vigil(['brake', 'lift', '--why', 'x'])).toMatchObject({
    code: 1,
    err: 'vigil: the brake is not engaged: there is nothing to lift\n',
  });
  expect(await vigil(['inbox', 'answer', 'brake', 'lift'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('brake waits for no answer'),
  });
  expect(commands).toHaveLength(before);
});

test('a halt without the dashboard needs Kafka, and the message names it', async () => {
  const { code, err } = await vigil(['halt', '--direct']);
  expect(code).toBe(2);
  expect(err).toContain('KAFKA_BROKERS is not set');
});

test('a halt without the dashboard is written to the log in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigil-cli-log-'));
  const VIGIL_LOG_FILE = join(folder, 'log.db');
  const absent = await vigil(['halt', '--direct', '--why', 'x'], { VIGIL_LOG_FILE });
  expect(absent).toMatchObject({ code: 2, err: expect.stringContaining('which does not exist') });
  const options = { path: VIGIL_LOG_FILE, partitions: 4, writes: [], now: Date.now };
  await using log = await openFileLog(options);
  const written = await vigil(['halt', '--direct', '--why', 'x'], { VIGIL_LOG_FILE });
  expect(written).toMatchObject({ code: 0 });
  expect(await log.bounds(Topic.controlFleet)).toMatchObject([{ low: 0, high: 1 }]);
  const both = await vigil(['halt', '--direct'], { VIGIL_LOG_FILE, KAFKA_BROKERS: 'a:1' });
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining('unset one of them') });
  rmSync(folder, { recursive: true });
});

test('events since a time come first, from all pages of the history, and none of them a second time', async () => {
  listQueries.length = 0;
  const { code, out } = await vigil(['events', 'tail', '--since', '2026-11-27', '--agent', 'worker-1']);
  expect(code).toBe(0);
  expect(out.match(/"[abc]"/g)).toEqual(['"a"', '"b"', '"c"']);
  expect(out.trim().split('\n')).toHaveLength(4);
  expect(out.trim().split('\n').at(-1)).toContain('ada');
  const asked = 'agent=worker-1&since=1795737600000&limit=1000';
  expect(listQueries.filter((one) => one.startsWith('/v1/story'))).toEqual([
    ...[`/v1/story?${asked}`, `/v1/story?${asked}&cursor=c`],
  ]);
  const { code: refused } = await vigil(['events', 'tail', '--since', '1h', '--heartbeats']);
  expect(refused).toBe(2);
});

test('agents are selected by host and runtime, and --quiet prints the names alone', async () => {
  const names = async (...args: readonly string[]) => (await vigil(['health', '--quiet', ...args])).out;
  expect(await names()).toBe('worker-1\n');
  for (const name of ['host', 'runtime']) {
    const { code, out, err } = await vigil(['health', '--quiet', `--${name}`, 'nosuch']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`${name} "nosuch" does not exist; use one of`);
  }
  const { host, runtimeId } = agentRow();
  expect(await vigil(['health', '--host', String(host), '--label', 'no=such'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('No agents.'),
  });
  expect(await names('--host', String(host), '--runtime', String(runtimeId))).toBe('worker-1\n');
  knowledge = { upTo: 1, blindSince: 1, away: [] };
  const blind = await vigil(['health', '-q']);
  knowledge = CURRENT;
  expect(blind).toMatchObject({ code: 2, out: 'worker-1\n', err: expect.stringMatching(/^vigil: BLIND/) });
  expect((await vigil(['health', '-q', '--json'])).code).toBe(2);
});

test('events are printed as they come, and the command ends with the stream', async () => {
  const { code, out } = await vigil(['events', 'tail']);
  expect(code).toBe(0);
  expect(out).toMatch(/fleet {2}halted by ada/);
});

const operator = () => ({
  VIGIL_GATEWAY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  VIGIL_GATEWAY_TOKEN: TOKEN,
  VIGIL_DASHBOARD_TOKEN: '',
});

test('a token is created by the gateway with the named claims, and printed alone', async () => {
  const claims = [
    '--tasks',
    'OMN-*',
    '--tasks',
    'DOC-1',
    '--label',
    'team=core',
    '--policy',
    'vigil',
    '--capacity',
    '8',
  ];
  const { code, out } = await vigil(['token', 'create', 'runtime', 'build-7', ...claims], operator());
  expect({ code, out }).toEqual({ code: 0, out: 'a.b.c\n' });
  expect(tokenRequests.splice(0)).toEqual([
    [
      '/v1/tokens',
      {
        kind: 'runtime',
        name: 'build-7',
        tasks: ['OMN-*', 'DOC-1'],
        labels: { team: ['core'] },
        policies: ['vigil'],
        capacity: 8,
        validMs: 30 * 86_400_000,
        by: 'ada',
      },
    ],
  ]);
});

test('a token without options permits no task, label, policy or capacity', async () => {
  await vigil(['token', 'create', 'agent', 'worker-4', '--valid', '12h'], operator());
  expect(tokenRequests.splice(0)).toMatchObject([
    ['/v1/tokens', { tasks: [], labels: {}, policies: [], capacity: 0, validMs: 12 * 3_600_000 }],
  ]);
});

test('tokens are listed with their claims and their revocation', async () => {
  const { code, out } = await vigil(['token', 'list'], operator());
  expect(code).toBe(0);
  expect(out).toMatch(/t-1 +runtime build-7 +OMN-\* +team=core +vigil +8 .* eve: lost/);
});

test('a token is revoked by its id, with a reason', async () => {
  expect((await vigil(['token', 'revoke', 't-1'], operator())).code).toBe(2);
  expect(await vigil(['token', 'revoke', 't-1', '--why', 'lost'], operator())).toMatchObject({
    code: 0,
    out: 'Revoked: t-1.\n',
  });
  const inJson = await vigil(['token', 'revoke', 't-1', '--why', 'lost', '--json'], operator());
  expect(JSON.parse(inJson.out)).toEqual({ revoked: 't-1' });
  const request = ['/v1/tokens/t-1/revoke', { by: 'ada', why: 'lost' }];
  expect(tokenRequests.splice(0)).toEqual([request, request]);
});

test('a person gets a token with a role: the file has its hash, and revocation removes it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigil-people-'));
  const env = { VIGIL_PEOPLE_FILE: join(folder, 'people.json') };
  const people = async () => JSON.parse((await vigil(['token', 'list', '--people', '--json'], env)).out);
  const created = await vigil(['token', 'create', 'person', 'ada', '--role', 'responder', '--valid', '90d'], env);
  expect(created.code).toBe(0);
  const token = created.out.trim();
  expect(await people()).toMatchObject([{ name: 'ada', role: 'responder', sha256: hashOfToken(token) }]);
  expect(readFileSync(env.VIGIL_PEOPLE_FILE, 'utf8')).not.toContain(token);
  expect(statSync(env.VIGIL_PEOPLE_FILE).mode & 0o777).toBe(0o600);
  await vigil(['token', 'create', 'person', 'ada', '--role', 'viewer'], env);
  expect(await people()).toMatchObject([{ name: 'ada', role: 'viewer' }]);
  const revoked = await vigil(['token', 'revoke', 'person:ada', '--why', 'she has left'], env);
  expect(revoked).toMatchObject({ code: 0, out: 'Revoked: person:ada.\n' });
  expect(await people()).toEqual([]);
  rmSync(folder, { recursive: true });
});

test.each([
  [['create', 'person', 'ada'], /--role is missing: give one of viewer, responder, operator, admin/],
  [['create', 'person', 'ada', '--role', 'boss'], /--role is "boss"/],
  [['create', 'person', 'a b', '--role', 'viewer'], /The name is "a b"/],
  [['revoke', 'person:eve', '--why', 'x'], /has no person "eve"/],
])('token %j is refused', async (words, message) => {
  const env = { VIGIL_PEOPLE_FILE: join(tmpdir(), 'vigil-no-people.json') };
  expect((await vigil(['token', ...words], env)).err).toMatch(message);
  expect((await vigil(['token', 'list', '--people'])).err).toContain('VIGIL_PEOPLE_FILE is not set');
});

test.each([
  [['create', 'runtime', 'a'], { VIGIL_GATEWAY_TOKEN: '' }, 'VIGIL_GATEWAY_TOKEN is not set'],
  [['create', 'runtime', 'a'], { VIGIL_GATEWAY_TOKEN: 'another' }, "VIGIL_GATEWAY_TOKEN is not the gateway's: no"],
  [['create', 'runtime', 'a', '--label', 'team'], {}, 'name=value'],
  [['create', 'runtime', 'a', '--capacity', 'many'], {}, 'whole number'],
  [['list'], { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1' }, 'set VIGIL_GATEWAY_URL'],
])('vigil token %o with %o ends with code 2', async (args, env, text) => {
  const end = await vigil(['token', ...args], { ...operator(), ...env });
  expect(end).toMatchObject({ code: 2, out: '' });
  expect(end.err).toContain(text);
  expect(tokenRequests).toEqual([]);
});

test('tickets are listed, those of one agent on request', async () => {
  const listed = await vigil(['ticket', 'list', '--agent', 'worker-1', '--json']);
  expect(JSON.parse(listed.out)).toMatchObject([{ ticketId: 't-1', severity: 'high' }]);
  expect((await vigil(['ticket', 'list'])).out).toMatch(/^TICKET +TIME +AGENT +SEVERITY +DECISION +CAUSE\n/);
});

test('dead letters are listed and shown by their id, and an unknown id is refused with the command that lists them', async () => {
  const listed = await vigil(['dlq', 'list', '--service', 'gateway', '--json']);
  expect(JSON.parse(listed.out)).toMatchObject([{ eventId: 'letter-1', service: 'gateway' }]);
  const shown = await vigil(['dlq', 'show', 'letter-1', '--json']);
  expect(JSON.parse(shown.out)).toMatchObject({ eventId: 'letter-1' });
  const unknown = await vigil(['dlq', 'show', 'letter-2']);
  expect(unknown.code).toBe(1);
  expect(unknown.err).toContain('vigil dlq list');
});
