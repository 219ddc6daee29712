import type { Away, Knowledge } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { agentJson, agentLines, agentsTable } from './agents/agents.ts';
import { knowledgeLines } from './knowledge.ts';
import { agentRow, CURRENT, NOON, VIEW } from './rows.fixture.ts';

const away = (part: string): Away => ({ part, since: NOON - 5000, detail: 'it refuses connections' });
const BLIND: Knowledge = { upTo: NOON - 12_000, blindSince: NOON - 12_000, away: [away('gateway')] };

test('current answers need no line', () => {
  expect(knowledgeLines(VIEW, CURRENT)).toEqual([]);
});

test('a blind view shows since when, and which parts do not answer', () => {
  expect(knowledgeLines(VIEW, BLIND)).toEqual([
    'BLIND since 11:59:48 (12 s): states are as they were then.',
    'AWAY  gateway since 11:59:55: it refuses connections',
  ]);
});

test('a part whose absence changes no state makes the view not blind', () => {
  expect(knowledgeLines(VIEW, { ...CURRENT, away: [away('alerting')] })).toEqual([
    'AWAY  alerting since 11:59:55: it refuses connections',
  ]);
});

test('six parts have a line, the others a count', () => {
  const parts = (count: number) => knowledgeLines(VIEW, { ...CURRENT, away: Array(count).fill(away('x')) });
  expect(parts(6)).toHaveLength(6);
  expect(parts(8).slice(6)).toEqual(['AWAY  2 more: vigil doctor']);
});

test('a blind view shows no state as the present one', () => {
  const healthy = agentRow({ state: 'HEALTHY' });
  expect(agentsTable(VIEW, [healthy], false, 9)[1]).toMatch(/worker-1 +was HEALTHY /);
  expect(agentLines(VIEW, healthy, false)[0]).toMatch(/^worker-1 was HEALTHY/);
  expect(agentJson(VIEW, healthy, BLIND)).toMatchObject({
    as_of: '2026-11-22T11:59:48.000Z',
    blind_since: '2026-11-22T11:59:48.000Z',
  });
  expect(agentJson(VIEW, healthy, CURRENT)).toMatchObject({ blind_since: null });
});
