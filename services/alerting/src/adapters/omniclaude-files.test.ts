import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { alertEvent, sinkDeps } from '../sinks/sinks.fixture.ts';
import { files } from './omniclaude-files.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'vigil-files-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const deliver = (fields: Parameters<typeof alertEvent>[0], linearChannels: readonly string[] = []) =>
  files
    .open('files', files.settings.parse({ kind: 'files', root }), { ...sinkDeps, linearChannels })
    .deliver(alertEvent(fields));
const raisedAt = Date.parse('2026-04-02T14:30:00.500Z');
const checkpoint = {
  ...(example(Topic.agentIntervention, 'ESCALATION_TRIGGERED').payload.checkpoint as object),
} as NonNullable<NonNullable<Parameters<typeof alertEvent>[0]>['checkpoint']>;
const blocked = { attempts: 3, limit: 2, reason: '2 of 2 attempts used', endedByItself: false };
const SAVED = '.onex_state/pipeline_checkpoints/OMN-1234/recovery-20260402T142500.yaml';
const FRICTION = '.onex_state/friction/2026-04-02-agent-stall-escalation-omn-1234.md';
const LOG = '.onex_state/dispatch-log/2026-04-02.ndjson';

const SEED = `# Agent Stall Escalation: OMN-1234
## Summary
Agent stalled 3 times on OMN-1234, exceeding the max redispatch
limit of 2. Ticket moved to Blocked in Linear.
## Stall History
- See dispatch log: .onex_state/dispatch-log/2026-04-02.ndjson
- Recovery checkpoint: ${SAVED}
## Root Cause Hypothesis
Agent likely hitting context exhaustion or encountering a blocking issue that
persists across redispatches (e.g., missing dependency, broken test, infra issue).
## Recommended Action
Manual investigation required. Read the checkpoint and dispatch log to determine
whether the issue is agent-side (scope too large) or environment-side (broken infra).
`;
const LINE = `{"timestamp_utc":"2026-04-02T14:30:00Z","event":"escalated_to_blocked","ticket_id":"OMN-1234","attempt_count":3,"friction_path":"${FRICTION}"}\n`;

test('a test of the channel writes no file, and fails where none could be written', async () => {
  await deliver({ route: 'channel_test' });
  expect(readdirSync(root, { recursive: true }).toSorted()).toEqual([
    '.onex_state',
    '.onex_state/dispatch-log',
    '.onex_state/friction',
  ]);
  rmSync(path.join(root, '.onex_state'), { recursive: true });
  writeFileSync(path.join(root, '.onex_state'), '');
  await expect(deliver({ route: 'channel_test' })).rejects.toThrow(/ENOTDIR|EEXIST/);
  await deliver({});
});

test('a ticket whose attempts are used up by stalls, and that Linear has, has omniclaude’s friction event and its line, to the letter', async () => {
  const uri = pathToFileURL(path.join(root, SAVED)).href;
  await deliver({ raisedAt, blocked, checkpoint: { ...checkpoint, uri }, sinks: ['files', 'issues'] }, ['issues']);
  expect(read(FRICTION)).toBe(SEED);
  expect(read(LOG)).toBe(LINE);
});

test.each([
  ['no channel to Linear', { sinks: ['files'] }, []],
  ['a channel to Linear that does not get this alert', { sinks: ['files'] }, ['issues']],
  ['a task without an issue', { sinks: ['issues'], taskId: 'fix the login' }, ['issues']],
])('with %s, the friction event does not claim that Linear has moved the ticket', async (_, fields, linearChannels) => {
  await deliver({ raisedAt, blocked, ...fields }, linearChannels);
  const [file = ''] = readdirSync(path.join(root, '.onex_state/friction'));
  const text = read(`.onex_state/friction/${file}`);
  expect(text).toContain('limit of 2. The task waits for a person.');
  expect(text).not.toContain('Linear');
});

test('a ticket whose agent crashed has the reason, and no claim of a stall or of an exhausted context', async () => {
  const crashed = { attempts: 6, limit: 5, reason: '5 of 5 attempts used: ended: crashed', endedByItself: true };
  await deliver({ raisedAt, blocked: crashed });
  const text = read(FRICTION);
  expect(text).toContain('No agent continues OMN-1234: 5 of 5 attempts used: ended: crashed.');
  expect(text).not.toMatch(/stalled|Stall Escalation|context exhaustion|Linear/);
});

test.each([
  ['waits for a person: the build has crashed', false, 'Agent stalled 3 times on OMN-1234'],
  ['2 of 2 attempts used: crashed', false, 'Agent stalled 3 times on OMN-1234'],
  ['no call for 9 min; limit 6 min; ended: lost', true, 'No agent continues OMN-1234'],
])('whether it stalled does not depend on the words of the reason: %s', async (reason, endedByItself, summary) => {
  await deliver({ raisedAt, blocked: { ...blocked, reason, endedByItself } });
  expect(read(FRICTION)).toContain(summary);
});

test('sent twice, it is one file and one line, after the lines of other programs', async () => {
  await deliver({ raisedAt, blocked });
  writeFileSync(path.join(root, LOG), `{"event":"redispatch"}\n${read(LOG)}`);
  await deliver({ raisedAt, blocked });
  expect(read(LOG)).toBe(`{"event":"redispatch"}\n${LINE}`);
  expect(readdirSync(path.join(root, '.onex_state/friction'))).toHaveLength(1);
});

test('what people have noted in it stays, even if its alert is sent again', async () => {
  await deliver({ raisedAt, blocked });
  writeFileSync(path.join(root, FRICTION), 'ada: it was the registry\n');
  await deliver({ raisedAt, blocked: { ...blocked, attempts: 4 } });
  expect(read(FRICTION)).toBe('ada: it was the registry\n');
  expect(readdirSync(path.dirname(path.join(root, FRICTION)))).toHaveLength(1);
});

test('two alerts of one ticket at once write one whole file, and a line each', async () => {
  const sink = files.open('files', files.settings.parse({ kind: 'files', root }), sinkDeps);
  const one = alertEvent({ raisedAt, blocked });
  const other = { ...alertEvent({ raisedAt, blocked: { ...blocked, attempts: 4 } }), eventId: 'other' };
  await Promise.all([one, other].map((each) => sink.deliver(each)));
  expect(read(FRICTION)).toContain('whether the issue is agent-side');
  expect(readdirSync(path.dirname(path.join(root, FRICTION)))).toHaveLength(1);
  expect(read(LOG).split('\n')).toHaveLength(3);
});

test('an unreadable log does not count as empty: nothing is written twice', async () => {
  await deliver({ raisedAt, blocked });
  truncateSync(path.join(root, LOG), 2 ** 32);
  await expect(deliver({ raisedAt, blocked })).rejects.toThrow('greater than 2 GiB');
});

test('a link that an agent has left where the log belongs leads nowhere else', async () => {
  mkdirSync(path.dirname(path.join(root, LOG)), { recursive: true });
  writeFileSync(path.join(root, 'profile'), 'mine\n');
  symlinkSync(path.join(root, 'profile'), path.join(root, LOG));
  await expect(deliver({ raisedAt, blocked })).rejects.toThrow('ELOOP');
  expect(read('profile')).toBe('mine\n');
});

test('a pipe in its place does not block: the alert is sent again until the pipe is removed', async () => {
  mkdirSync(path.dirname(path.join(root, LOG)), { recursive: true });
  execFileSync('mkfifo', [path.join(root, LOG)]);
  await expect(deliver({ raisedAt, blocked })).rejects.toThrow('ENXIO');
});

test('another day it is another file', async () => {
  await deliver({ raisedAt, blocked });
  await deliver({ raisedAt: raisedAt + 86_400_000, blocked });
  expect(readdirSync(path.join(root, '.onex_state/friction'))).toHaveLength(2);
});

test('a task that a plan leaves to people has the reason, and no uncounted figure', async () => {
  await deliver({
    raisedAt,
    blocked: { ...blocked, attempts: null, limit: null, reason: 'no way on' },
    checkpoint: null,
  });
  expect(read(FRICTION)).toContain('## Summary\nAgent stalled on OMN-1234: no way on\n## Stall History');
  expect(read(FRICTION)).toContain('- Recovery checkpoint: none\n');
});

test.each([
  [1, 'Agent stalled 1 time on OMN-1234: no way on'],
  [3, 'Agent stalled 3 times on OMN-1234: no way on'],
])('a task that a plan leaves to people names how often its agents have stalled: %d', async (attempts, line) => {
  await deliver({ raisedAt, blocked: { ...blocked, attempts, limit: null, reason: 'no way on' } });
  expect(read(FRICTION)).toContain(`## Summary\n${line}\n## Stall History`);
  expect(JSON.parse(read(LOG))).toMatchObject({ attempt_count: attempts });
});

test('of anything else it writes nothing', async () => {
  await deliver({ raisedAt, blocked: null });
  const over = example(Topic.alert, 'ALERT_RESOLVED', { deliverAt: 5 });
  await files.open('files', files.settings.parse({ kind: 'files', root }), sinkDeps).deliver(over);
  expect(existsSync(path.join(root, '.onex_state'))).toBe(false);
});

test('the name of a ticket leads nowhere else', async () => {
  await deliver({ raisedAt, blocked, taskId: '../../Etc/x' });
  expect(readdirSync(path.join(root, '.onex_state/friction'))).toEqual([
    '2026-04-02-agent-stall-escalation-..-..-etc-x.md',
  ]);
});

test.each([
  [{ root: 'work' }, 'write it from / on: the service has a folder of its own'],
  [{ root: '/w', friction: '../out' }, 'write a folder below root'],
  [{ root: '/w', dispatch_log: '/var/log' }, 'write a folder below root'],
])('folders that lead elsewhere are refused: %j', (settings, message) => {
  const result = files.settings.safeParse({ kind: 'files', ...settings });
  expect(result.error?.issues.map((issue) => issue.message)).toEqual([message]);
});
