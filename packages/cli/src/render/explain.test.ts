import { expect, test } from 'vitest';
import { agentsTable } from './agents.ts';
import { explainLines } from './explain.ts';
import { agentRow, explanation, NOON, VIEW } from './rows.fixture.ts';
import { checkpointRow, recoveryRow, taskRow } from './task-rows.fixture.ts';
import { recoveryLine } from './tasks.ts';

test('an explanation shows the newest five checkpoints, where the others are, and the state of recovery', () => {
  const checkpoints = Array.from({ length: 7 }, (_, i) => checkpointRow(`c-${7 - i}`));
  const text = explainLines(VIEW, explanation({ checkpoints, task: taskRow() })).join('\n');
  expect(text).toContain('c-3');
  expect(text).not.toContain('c-2');
  expect(text).toContain('  and 2 earlier: vigil task show OMN-1234');
  expect(text).toContain('  recovery   review required: 3 of 3 attempts used');
  const few = explainLines(VIEW, explanation({ checkpoints: checkpoints.slice(0, 5), task: taskRow() })).join('\n');
  expect(few).not.toContain('earlier');
});

test('an explanation shows every other finding about the agent, and omits what is unknown', () => {
  const notes = ['its cost is not known', 'its policy is not enabled'];
  const text = explainLines(VIEW, explanation({ notes })).join('\n');
  expect(text).toContain('  note       its cost is not known\n  note       its policy is not enabled');
  expect(explainLines(VIEW, explanation({ notes: null })).join('\n')).not.toContain('note ');
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
  expect(agentsTable(VIEW, [agentRow(ended)])[1]).toMatch(/ as ordered$/);
});
