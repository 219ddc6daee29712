import type { Checkpoint, ToolCall, WorkItem } from '@vigil/events';
import { describe, expect, test } from 'vitest';
import { applyReport, type Mark, marked, noProgress, overtaken, type Progress } from './progress.ts';

const call = (more: Partial<ToolCall> = {}): ToolCall => ({
  ...{ call_id: 'c1', kind: 'tool', tool: 'Bash', args_hash: 'a', result_hash: 'r', masked_result_hash: null },
  ...{ outcome: 'error', error_class: null, started_at: null, ended_at: null, deadline_at: null },
  ...{ mutating: false, polling: false, checking: false, target: null },
  ...more,
});
const checkpoint = { checkpoint_id: 'cp-1' } as Checkpoint;
const work: WorkItem = { id: 'W-1', status: null, updated_at: 5, claim_refreshed_at: 5, comment_count: 1 };

/** Seen at heartbeat 3; the finding has folded heartbeat 7. */
const before = applyReport(
  noProgress,
  {
    tool_calls: [call({ outcome: 'running' })],
    checkpoint,
    work,
    token_count: 9,
    steps: { total_steps: 1, verdicts: [] },
    turn: { open: true, started_at: 3, last_event_at: 3 },
  },
  3,
);
const FOLDED = 7;
const awaiting = (progress: Pick<Progress, 'marks' | 'openCalls'>, ...awaits: readonly (readonly Mark[])[]) =>
  overtaken(progress, { awaits, foldedSequence: FOLDED });

const cases: Readonly<Record<string, readonly [Parameters<typeof applyReport>[1], readonly Mark[]]>> = {
  'a word': [{ phase: 'x' }, ['activity']],
  'the start of a call': [{ tool_calls: [call({ call_id: 'c2', outcome: 'running' })] }, ['activity', 'call']],
  'a failed call': [{ tool_calls: [call()] }, ['activity', 'call', 'answer']],
  'a call': [{ tool_calls: [call({ outcome: 'ok' })] }, ['activity', 'call', 'answer', 'success']],
  'a call that changes something': [
    { tool_calls: [call({ outcome: 'ok', mutating: true })] },
    ['activity', 'call', 'answer', 'success', 'change'],
  ],
  'a failed change': [{ tool_calls: [call({ mutating: true })] }, ['activity', 'call', 'answer']],
  'a checkpoint': [{ checkpoint: { ...checkpoint, checkpoint_id: 'cp-2' } }, ['activity', 'checkpoint', 'change']],
  'a checkpoint that is not valid': [
    { checkpoint: { ...checkpoint, checkpoint_id: 'cp-2', valid: false } },
    ['activity', 'checkpoint'],
  ],
  'the same checkpoint again': [{ checkpoint }, ['activity']],
  'use of tokens': [{ token_count: 10 }, ['activity', 'tokens']],
  'the same count of tokens': [{ token_count: 9 }, ['activity']],
  'an update of its work item': [{ work: { ...work, updated_at: 6 } }, ['activity', 'work', 'change']],
  'a comment on it': [{ work: { ...work, comment_count: 2 } }, ['activity', 'work', 'change']],
  'a refreshed claim': [{ work: { ...work, claim_refreshed_at: 6 } }, ['activity', 'claim']],
  'the same work item': [{ work }, ['activity']],
  'a step': [{ steps: { total_steps: 2, verdicts: ['RETRY'] } }, ['activity', 'step']],
  'an accepted step': [{ steps: { total_steps: 2, verdicts: ['ACCEPT'] } }, ['activity', 'step', 'accept', 'change']],
  'another event of its client': [{ turn: { open: true, started_at: 3, last_event_at: 4 } }, ['activity', 'turn']],
  'the end of its turn': [{ turn: { open: false, started_at: 3, last_event_at: 3 } }, ['activity', 'turn']],
  'the same turn': [{ turn: { open: true, started_at: 3, last_event_at: 3 } }, ['activity']],
  'the same count of steps': [{ steps: { total_steps: 1, verdicts: [] } }, ['activity']],
};
const ALL: readonly Mark[] = [
  ...(['heartbeat', 'activity', 'call', 'answer', 'output', 'checkpoint', 'tokens', 'work'] as const),
  ...(['claim', 'step', 'accept', 'completion', 'success', 'change', 'turn'] as const),
];

describe.each(Object.entries(cases))('%s', (_, [input, marks]) => {
  test('ends what awaits it, and nothing else', () => {
    const after = applyReport(before, input, 8);
    expect(ALL.filter((mark) => awaiting(after, [mark]))).toEqual(ALL.filter((mark) => marks.includes(mark)));
  });

  test('does not end a finding that had already folded it', () => {
    const after = applyReport(before, input, FOLDED);
    expect(ALL.filter((mark) => awaiting(after, [mark]))).toEqual([]);
  });
});

test('without any progress, nothing awaited has arrived', () => {
  expect(ALL.filter((mark) => awaiting(noProgress, [mark]))).toEqual([]);
  expect(overtaken(applyReport(before, { phase: 'x' }, 8), { awaits: [['activity']], foldedSequence: null })).toBe(
    false,
  );
  expect(overtaken(applyReport(before, { phase: 'x' }, 8), { awaits: [['UNKNOWN']], foldedSequence: 7 })).toBe(false);
});

test('a work item that is seen for the first time has not been touched', () => {
  const after = applyReport(noProgress, { work }, 8);
  expect([awaiting(after, ['work']), awaiting(after, ['claim']), awaiting(after, ['change'])]).toEqual([
    false,
    false,
    false,
  ]);
});

test('each call that was in flight has to end, not any call', () => {
  const beside = applyReport(before, { tool_calls: [call({ call_id: 'c2', outcome: 'ok' })] }, 8);
  expect(awaiting(beside, ['answer'])).toBe(false);
  const ended = applyReport(beside, { tool_calls: [call(), call({ call_id: 'c3', outcome: 'running' })] }, 9);
  expect(awaiting(ended, ['answer'])).toBe(true);
});

test('one mark of each group has to arrive', () => {
  const saved = marked(noProgress, ['checkpoint'], 8);
  expect(awaiting(saved, ['checkpoint', 'tokens'])).toBe(true);
  expect(awaiting(saved, ['checkpoint'], ['tokens'])).toBe(false);
  expect(awaiting(marked(saved, ['tokens'], 8), ['checkpoint'], ['tokens'])).toBe(true);
});

test('a finding that awaits nothing observable by a runtime is never overtaken', () => {
  const everything = marked(noProgress, ALL, 99);
  expect(awaiting(everything, [])).toBe(false);
  expect(awaiting(everything, [], ['checkpoint'])).toBe(false);
  expect(awaiting(everything)).toBe(false);
});

test('a finding that names nothing to await ends by its axes: silence by activity, a fact by nothing, all else by a change', () => {
  const byAxes = (progress: Progress, ...axes: readonly string[]) => overtaken(progress, { axes, foldedSequence: 7 });
  const active = marked(noProgress, ['activity'], 8);
  const changed = marked(active, ['change'], 8);
  expect([byAxes(active, 'absence'), byAxes(noProgress, 'absence')]).toEqual([true, false]);
  for (const axis of ['repetition', 'rate', 'cost'])
    expect([byAxes(active, axis), byAxes(changed, axis), byAxes(changed, 'absence', axis)]).toEqual([
      false,
      true,
      true,
    ]);
  expect([byAxes(changed, 'fact'), byAxes(changed, 'absence', 'fact'), byAxes(changed)]).toEqual([false, false, false]);
  expect(overtaken(active, { axes: ['absence'], awaits: null, foldedSequence: 7 })).toBe(true);
});
