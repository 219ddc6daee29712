import { expect, test } from 'vitest';
import {
  type Cell,
  cellText,
  cellTitle,
  countsOf,
  EVERYTHING,
  hiddenMatches,
  lately,
  STATES,
  shownCells,
} from './fleet.ts';
import { knownOf } from './knowledge.ts';

const cell = (agentId: string, more: Partial<Cell> = {}): Cell => ({
  agentId,
  state: 'HEALTHY',
  since: 0,
  exemption: null,
  taskId: null,
  host: null,
  policyName: 'vigil',
  unhealthy: false,
  labels: {},
  waiting: false,
  held: false,
  ...more,
});

const names = (cells: readonly Cell[]) => cells.map(({ agentId }) => agentId);

test('what asks people comes first, then what is unhealthy, the worst state first, then the rest by name', () => {
  const cells = [
    cell('a'),
    cell('asks', { waiting: true }),
    cell('b'),
    cell('degraded', { state: 'DEGRADED', unhealthy: true }),
    cell('failing', { state: 'FAILING', unhealthy: true }),
    cell('stuck', { state: 'STUCK', unhealthy: true }),
  ];
  expect(names(shownCells(cells, EVERYTHING))).toEqual(['asks', 'failing', 'stuck', 'degraded', 'a', 'b']);
});

test('ended agents are hidden, and shown on request or by their state; one that a person should look at is never hidden', () => {
  const cells = [
    cell('done', { state: 'TERMINATED' }),
    cell('stopped', { state: 'TERMINATED' }),
    cell('crashed', { state: 'TERMINATED', unhealthy: true }),
  ];
  expect(names(shownCells(cells, EVERYTHING))).toEqual(['crashed']);
  expect(names(shownCells(cells, { ...EVERYTHING, ended: true }))).toHaveLength(3);
  expect(names(shownCells(cells, { ...EVERYTHING, state: 'TERMINATED' }))).toHaveLength(3);
});

test('every word must be found, in any field and in any case', () => {
  const cells = [
    cell('worker-1', { taskId: 'OMN-12', labels: { team: 'Ops' } }),
    cell('worker-2', { taskId: 'OMN-13', host: 'build7' }),
  ];
  const found = (find: string) => names(shownCells(cells, { ...EVERYTHING, find }));
  expect(found('omn')).toEqual(['worker-1', 'worker-2']);
  expect(found('OMN team=ops')).toEqual(['worker-1']);
  expect(found('build7 omn-12')).toEqual([]);
});

test('hosts are by name, their numbers by value, and agents without a host follow those with one', () => {
  const cells = [
    cell('a'),
    cell('b', { host: 'h10' }),
    cell('c', { host: 'h2' }),
    cell('d'),
    cell('e', { host: 'h2' }),
  ];
  expect(names(shownCells(cells, { ...EVERYTHING, sort: 'host' }))).toEqual(['c', 'e', 'b', 'a', 'd']);
});

test('what changed lately is the newest first, and leaves out what has no time', () => {
  const cells = [cell('old', { since: 1 }), cell('never', { since: null }), cell('new', { since: 9 })];
  const many = Array.from({ length: 50 }, (_, i) => cell(`w${i}`, { since: (i * 37) % 50 }));
  expect(lately(many, 4).map(({ since }) => since)).toEqual([49, 48, 47, 46]);
  expect(names(lately(cells, 1))).toEqual(['new']);
  expect(names(lately(cells, 9))).toEqual(['new', 'old']);
});

test('counts have every state', () => {
  expect(countsOf([cell('a'), cell('b', { state: 'STUCK', unhealthy: true })])).toEqual({
    ...{ HEALTHY: 1, STUCK: 1, DEGRADED: 0, FAILING: 0, TERMINATED: 0, UNKNOWN: 0 },
  });
});

test('where only ended agents match, or those of other states, they are named and can be shown', () => {
  const cells = [cell('steady'), cell('hangs', { state: 'TERMINATED' }), cell('hangs-2', { state: 'TERMINATED' })];
  const hidden = (find: string, more = {}) => hiddenMatches(cells, { ...EVERYTHING, find, ...more });
  expect(hidden('hangs')?.text).toBe('No agent that runs matches. 2 ended agents do.');
  expect(hidden('hangs-2')?.text).toBe('No agent that runs matches. 1 ended agent does.');
  expect(hidden('steady', { state: 'STUCK' })?.text).toBe('No STUCK agent matches. 1 agent of other states does.');
  expect(hidden('nosuch')).toBeNull();
  expect(names(shownCells(cells, hidden('hangs')?.filter ?? EVERYTHING))).toEqual(['hangs', 'hangs-2']);
});

const MINUTE_MS = 60_000;
const now = 10 * MINUTE_MS;
const [current, blind] = [knownOf(null, now).text, knownOf(now, now).text];

test('a cell and its title have the state as a word, whether or not the agent waits for a person', () => {
  for (const state of STATES)
    for (const waiting of [false, true]) {
      const one = cell('cr-1', { state, waiting, since: 6 * MINUTE_MS });
      expect(cellText(one, now, current)).toBe(waiting ? `${state} · asks · 4 min` : `${state} · 4 min`);
      expect(cellTitle(one, current)).toBe(waiting ? `cr-1: ${state}, asks` : `cr-1: ${state}`);
    }
  const busy = cell('cr-1', { since: 6 * MINUTE_MS, exemption: 'tool_call', taskId: 'T-1' });
  expect(cellText(busy, now, current)).toBe('HEALTHY · 4 min · tool call');
  expect(cellTitle({ ...busy, since: null }, current)).toBe('cr-1: HEALTHY, task T-1');
});

test('a cell of a blind page has the state that it was in, also of an agent that asked', () => {
  const asks = cell('cr-1', { state: 'STUCK', waiting: true, since: 6 * MINUTE_MS, taskId: 'T-1' });
  expect(cellText(asks, now, blind)).toBe('was STUCK · asked · 4 min');
  expect(cellTitle(asks, blind)).toBe('cr-1: was STUCK, asked, task T-1');
  expect(cellText({ ...asks, waiting: false }, now, blind)).toBe('was STUCK · 4 min');
});
