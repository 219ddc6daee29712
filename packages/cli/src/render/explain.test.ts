import { expect, test } from 'vitest';
import { agentsTable } from './agents.ts';
import { explainLines } from './explain.ts';
import { agentRow, explanation, NOON, VIEW } from './rows.fixture.ts';
import { checkpointRow, recoveryRow, taskRow } from './task-rows.fixture.ts';
import { recoveryLine } from './tasks.ts';

test('an explanation shows the newest five checkpoints, where the others are, and the state of recovery', () => {
  const checkpoints = Array.from({ length: 7 }, (_, i) => checkpointRow(`c-${7 - i}`));
  const text = explainLines(VIEW, explanation({ checkpoints, task: taskRow() }), 0).join('\n');
  expect(text).toContain('c-3');
  expect(text).not.toContain('c-2');
  expect(text).toContain('  and 2 earlier: vigil task show OMN-1234');
  expect(text).toContain('  recovery   review required: 3 of 3 attempts used');
  const few = explainLines(VIEW, explanation({ checkpoints: checkpoints.slice(0, 5), task: taskRow() }), 0).join('\n');
  expect(few).not.toContain('earlier');
});

test('an explanation shows every other finding about the agent, and omits unknown values', () => {
  const notes = ['its cost is not known', 'its policy is not enabled'];
  const text = explainLines(VIEW, explanation({ notes }), 0).join('\n');
  expect(text).toContain('  note       its cost is not known\n  note       its policy is not enabled');
  expect(explainLines(VIEW, explanation({ notes: null }), 0).join('\n')).not.toContain('note ');
});

test('an explanation shows the use of tokens, and how much happened before its story begins', () => {
  const shown = (tokens: number | null, earlier: number) =>
    explainLines(VIEW, explanation({ agent: agentRow({ tokens }) }), earlier).join('\n');
  expect(shown(6300, 12)).toContain('  tokens     6300 used\n');
  expect(shown(6300, 12)).toContain('What happened\n  and 12 earlier: vigil explain worker-1 --all\n');
  expect(shown(null, 0)).toContain('  tokens     no use reported\n');
  expect(shown(null, 0)).not.toContain('earlier');
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
