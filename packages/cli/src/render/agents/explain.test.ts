import { expect, test } from 'vitest';
import { agentRow, caseStory, EXTENT, entry, explanation, NOON, VIEW } from '../rows.fixture.ts';
import { agentsTable } from './agents.ts';
import { explainLines } from './explain.ts';
import { checkpointRow, recoveryRow, taskRow } from './task-rows.fixture.ts';
import { recoveryLine } from './tasks.ts';

test('an explanation shows the newest five checkpoints, where the others are, and the state of recovery', () => {
  const checkpoints = Array.from({ length: 7 }, (_, i) => checkpointRow(`c-${7 - i}`));
  const text = explainLines(VIEW, explanation({ checkpoints, task: taskRow() }), EXTENT).join('\n');
  expect(text).toContain('c-3 by worker-1 (valid)');
  expect(text).not.toContain('c-2');
  expect(text).toContain('  and 2 earlier: vigil task show OMN-1234');
  expect(text).toContain('  recovery   review required: 3 of 3 attempts used');
  const few = explainLines(VIEW, explanation({ checkpoints: checkpoints.slice(0, 5), task: taskRow() }), EXTENT).join(
    '\n',
  );
  expect(few).not.toContain('earlier');
});

test('an explanation shows every other finding about the agent, and omits unknown values', () => {
  const notes = ['its cost is not known', 'its policy is not enabled'];
  const text = explainLines(VIEW, explanation({ notes }), EXTENT).join('\n');
  expect(text).toContain('  note       its cost is not known\n  note       its policy is not enabled');
  expect(explainLines(VIEW, explanation({ notes: null }), EXTENT).join('\n')).not.toContain('note ');
});

test('an explanation shows the use of tokens', () => {
  const shown = (tokens: number | null) =>
    explainLines(VIEW, explanation({ agent: agentRow({ tokens }) }), EXTENT).join('\n');
  expect(shown(6300)).toContain('  tokens     6300 used\n');
  expect(shown(null)).toContain('  tokens     no use reported\n');
});

const paused = (count: number) => Array.from({ length: count }, (_, i) => entry('AGENT_PAUSED', {}, NOON + i * 1000));

test('the newest 40 lines of what happened are shown, with the command for all of them', () => {
  const shown = (count: number, more = {}) =>
    explainLines(VIEW, explanation({ story: paused(count), cases: [] }), { ...EXTENT, ...more }).join('\n');
  expect(shown(40)).not.toContain('earlier');
  expect(shown(52)).toContain('What happened\n  and 12 earlier: vigil explain worker-1 --all\n  12:00:12  paused');
  expect(shown(42, { all: true })).toContain('What happened\n  12:00:00  paused');
});

test('what happened is limited to the given time, with both of its ends', () => {
  const period = { from: NOON + 2000, to: NOON + 4000 };
  const lines = explainLines(VIEW, explanation({ story: paused(9), cases: [] }), { ...EXTENT, period });
  expect(lines.filter((line) => line.endsWith('paused'))).toEqual([
    '  12:00:02  paused',
    '  12:00:03  paused',
    '  12:00:04  paused',
  ]);
});

test('routine is shown only with all that happened', () => {
  const story = [entry('STEP_ADMITTED', {}), entry('AGENT_PAUSED', {})];
  const shown = (all: boolean) => explainLines(VIEW, explanation({ story, cases: [] }), { ...EXTENT, all }).length;
  expect(shown(true) - shown(false)).toBe(1);
});

test('a hold and a release are one line each, and all that belongs to them with all that happened', () => {
  const why = 'a look';
  const exemption = (from: string | null, to: string | null, at: number) =>
    entry('EXEMPTION_CHANGED', { from, to, suspends: [], until: null }, at);
  const hold = (held: boolean, by: string, at: number) => entry('HOLD_CHANGED', { held, by, why }, at);
  const story = [
    entry('HOLD_AGENT', { by: 'ada', why }, NOON),
    hold(true, 'ada', NOON + 1000),
    exemption(null, 'held', NOON + 1001),
    entry('RELEASE_AGENT', { by: 'ada', why }, NOON + 60_000),
    hold(false, 'ada', NOON + 61_000),
    exemption('held', null, NOON + 61_001),
  ];
  const lines = (given: typeof story, all: boolean) =>
    explainLines(VIEW, explanation({ story: given, cases: [] }), { ...EXTENT, all }).filter((line) =>
      /^ {2}1\d:/.test(line),
    );
  expect(lines(story, false)).toEqual(['  12:00:01  held by ada: a look', '  12:01:01  released by ada: a look']);
  expect(lines(story, true)).toHaveLength(6);
  // What has no outcome, another person's request, another exemption and a later one remain.
  const others = [
    entry('HOLD_AGENT', { by: 'ada', why }, NOON),
    entry('HOLD_AGENT', { by: 'bob', why }, NOON + 1),
    hold(true, 'ada', NOON + 1000),
    exemption(null, 'rate_limited', NOON + 1001),
    exemption('rate_limited', 'held', NOON + 60_000),
    hold(false, 'ada', NOON + 61_000),
    exemption('held', 'rate_limited', NOON + 61_001),
    entry('HOLD_AGENT', { by: 'ada', why }, NOON + 62_000),
  ];
  expect(lines(others, false)).toHaveLength(7);
  const refused = [entry('HOLD_AGENT', { by: 'ada', why }), entry('HOLD_REFUSED', { held: true, by: 'ada', why })];
  expect(lines(refused, false)).toHaveLength(1);
});

test('an event of a case is shown once, in its place among the others', () => {
  const nudge = entry('NUDGE_SENT', { attempt: 1, of: 2, message: 'hello' }, NOON + 1000);
  const receipt = entry(
    'ORDER_RECEIPT',
    { outcome: 'delivered', why: null, runtimeId: 'host-1', by: null },
    NOON + 2000,
  );
  const story = [entry('AGENT_PAUSED', {}, NOON), nudge, entry('AGENT_RESUMED', {}, NOON + 3000)];
  const lines = explainLines(VIEW, explanation({ story, cases: [caseStory({ trail: [nudge, receipt] })] }), EXTENT);
  expect(lines.filter((line) => /^ {2}12:00:0/.test(line))).toEqual([
    '  12:00:00  paused',
    '  12:00:01  nudged (1 of 2): "hello"',
    '  12:00:02  host-1 reports delivered',
    '  12:00:03  resumed',
  ]);
  expect(lines.indexOf('Cases')).toBeGreaterThan(lines.indexOf('  12:00:03  resumed'));
});

test('signals that fire come first, then those that will within an hour; the others are a count', () => {
  const figure = (signal: string, firesFrom: number | null) => ({
    ...{ signal, axis: 'absence', confidence: 'high', words: 'w', value: null, limit: null, suspendedBy: [] },
    isDuration: false,
    ...{ fires: firesFrom !== null && firesFrom <= NOON, firesFrom },
  });
  const signals = [
    figure('never', null),
    figure('soon', NOON + 3_600_000),
    figure('later', NOON + 3_600_001),
    figure('fires', NOON - 1),
  ];
  const shown = (given: typeof signals, all: boolean) =>
    explainLines(VIEW, explanation({ signals: given }), { ...EXTENT, all }).join('\n');
  expect(shown(signals, false)).toMatch(
    /fires .*\n {2}soon .*\n {2}A time ahead holds if nothing more is received.*\n {2}2 do not fire within 1 h: vigil explain worker-1 --all\n/,
  );
  expect(shown(signals, true)).toMatch(/fires .*\n {2}soon .*\n {2}later .*\n {2}never +high +no /);
  expect(shown(signals.slice(0, 1), false)).toContain('Signals\n  1 do not fire within 1 h');
  const ended = explanation({ agent: agentRow({ state: 'TERMINATED' }), signals: signals.slice(0, 1) });
  expect(explainLines(VIEW, ended, EXTENT).join('\n')).not.toContain('Signals');
});

test('the end of an earlier instance is not shown as that of the present one', () => {
  const shown = (exitAt: number) => {
    const agent = agentRow({ exitReason: 'explicit', exitAt, instanceSince: NOON });
    return explainLines(VIEW, explanation({ agent }), EXTENT).join('\n');
  };
  expect(shown(NOON)).toContain('  ended      explicit');
  expect(shown(NOON - 1)).not.toContain('  ended ');
});

test('an agent that has ended shows its last ten lines, and not those of an earlier instance', () => {
  const exitLastOutput = [...Array.from({ length: 12 }, (_, i) => `line ${i + 1}`), ' '];
  const shown = (exitAt: number) => {
    const agent = agentRow({ exitReason: 'crashed', exitAt, instanceSince: NOON, exitLastOutput });
    return explainLines(VIEW, explanation({ agent }), EXTENT).join('\n');
  };
  expect(shown(NOON)).toMatch(/Last output\n {2}line 3\n(.*\n){8} {2}line 12(\n|$)/);
  expect(shown(NOON)).not.toContain('line 2\n');
  expect(shown(NOON - 1)).not.toContain('Last output');
});

test('an old state is not shown as the present one', () => {
  expect(explainLines(VIEW, explanation(), { ...EXTENT, isNow: false })[0]).toMatch(/^worker-1 was STUCK since/);
});

test('an attempt whose agent has ended is not running', () => {
  const line = (more: object) => recoveryLine(VIEW, recoveryRow(more));
  expect(line({})).toMatch(/attempt 1 of 3: worker-1-r1 from task-start on host-1: running$/);
  expect(line({ endReason: 'crashed' })).toMatch(/: ended: crashed$/);
  expect(line({ endReason: 'crashed', failedAt: NOON, failedReason: '3 of 3 attempts used' })).toMatch(
    /failed: 3 of 3/,
  );
  expect(line({ endReason: 'finished', releasedAt: NOON, releasedWhy: 'finished' })).toMatch(/over \(finished\)$/);
});

test('an end by order is described in a sentence', () => {
  const ended = { state: 'TERMINATED', endReason: 'explicit', reason: 'ended: as ordered' } as const;
  expect(agentsTable(VIEW, [agentRow(ended)], true, 9)[1]).toMatch(/ as ordered$/);
});
