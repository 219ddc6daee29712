import type { RecoveryOptions } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { agentRow, EXTENT, explanation, NOON, VIEW } from '../rows.fixture.ts';
import { explainLines } from './explain.ts';
import { optionLines, optionsJson } from './options.ts';

const options: RecoveryOptions = {
  plan: 'STUCK',
  steps: ['nudge', 'escalate', 'terminate', 'recover'],
  next: { step: 'nudge', at: NOON + 60_000 },
  suspendedBy: null,
  decisions: ['allow_more_time', 'force_handoff'],
  checkpoint: { checkpointId: 'c-2', writtenAt: NOON - 60_000, valid: null },
};
const lines = (more: Partial<RecoveryOptions>) => optionLines(VIEW, 'worker-1', { ...options, ...more }).join('\n');

test('an agent that is not healthy shows the next step and when, its decisions, and the checkpoint of a recovery', () => {
  expect(optionLines(VIEW, 'worker-1', options)).toEqual([
    '  next       nudge at 12:01:00, unless it makes progress before',
    '  plan       "STUCK": nudge → escalate → terminate → recover',
    '  decisions  allow_more_time, force_handoff',
    '  people     vigil nudge worker-1, vigil recover worker-1, vigil hold worker-1',
    '  recovery   would continue from c-2 of 11:59:00 (not checked yet)',
  ]);
});

test('an explanation has the options, and none where the agent is healthy', () => {
  const text = (more: Parameters<typeof explanation>[0]) => explainLines(VIEW, explanation(more), EXTENT).join('\n');
  expect(text({ agent: agentRow({ state: 'DEGRADED' }), options })).toContain(
    'Options\n  next       nudge at 12:01:00',
  );
  expect(text({ options: null })).not.toContain('Options');
});

test('unknown values are named as such', () => {
  expect(lines({ checkpoint: null })).toContain('would start the task again');
  expect(lines({ next: { step: 'terminate', at: null } })).toContain('  next       terminate, unless');
  expect(lines({ next: { step: 'terminate', at: null }, suspendedBy: 'awaiting_input' })).toContain(
    '  next       terminate after the wait (awaiting input), unless',
  );
  expect(lines({ next: null })).toContain('people decide');
  expect(lines({ plan: null, steps: [], next: null })).toContain('no plan acts, if nothing more is received');
});

test('a program gets the options with times of the ISO form, and null for a healthy agent', () => {
  expect(optionsJson(options)).toEqual({
    plan: 'STUCK',
    steps: ['nudge', 'escalate', 'terminate', 'recover'],
    next: { step: 'nudge', at: '2026-11-22T12:01:00.000Z' },
    suspended_by: null,
    decisions: ['allow_more_time', 'force_handoff'],
    checkpoint: { id: 'c-2', written_at: '2026-11-22T11:59:00.000Z', valid: null },
  });
  expect(optionsJson(null)).toBeNull();
});
