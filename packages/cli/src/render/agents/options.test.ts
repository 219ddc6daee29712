import type { RecoveryOptions } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { agentRow, EXTENT, entry, explanation, NOON, VIEW } from '../rows.fixture.ts';
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

test('an explanation has until when the governor usually withholds the next end of a process, from the last one that it admitted', () => {
  const text = (step: string, at: number | null, admitted: readonly [step: string, at: number]) => {
    const story = [entry('STEP_ADMITTED', { step: admitted[0] }, admitted[1])];
    return explainLines(VIEW, explanation({ story, options: { ...options, next: { step, at } } }), EXTENT).join('\n');
  };
  const resumed = ['resume', NOON - 60_000] as const;
  expect(text('terminate', NOON + 60_000, resumed)).toContain(
    '  governor   terminate may wait for the cooldown after resume at 11:59:00: until 12:04:00 with the default of 300 s (VIGIL_GOVERNOR_COOLDOWN_S)',
  );
  expect(text('terminate', NOON + 239_999, resumed)).toContain('  governor ');
  expect(text('terminate', NOON + 240_000, resumed)).not.toContain('  governor ');
  expect(text('terminate', null, ['terminate', NOON - 300_000])).not.toContain('  governor ');
  expect(text('nudge', NOON, resumed)).not.toContain('  governor ');
  expect(text('terminate', NOON, ['nudge', NOON - 60_000])).not.toContain('  governor ');
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
