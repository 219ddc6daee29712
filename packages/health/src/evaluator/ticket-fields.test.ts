import { type EscalationTicket, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { Unwelcome } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { call, type HeartbeatPayload, T0 } from '../fixture.ts';
import { AFTER, agent, severities } from '../judgement/tickets.fixture.ts';

describe('a ticket', () => {
  const filed = (more: Partial<HeartbeatPayload> = {}) => {
    const a = agent();
    a.steps(0, 0);
    const [ticket] = a.steps(AFTER, 16, 'CONTINUE', more);
    if (!ticket) throw new Error('nothing filed');
    return ticket;
  };

  test('is complete, and has a deterministic id', () => {
    const { ticket } = filed();
    expect(ticket.ticket_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(filed().ticket).toEqual(ticket);
    expect(Object.values(ticket)).not.toContain(undefined);
    expect(Object.values(ticket)).not.toContain('');
    expect(ticket).toMatchObject({
      created_at: new Date(T0 + AFTER).toISOString(),
      cause: '16 steps without an ACCEPT',
      suggested_action: 'human review: read its last steps and its output',
      stall_minutes: null,
      ...{ worker_graph_id: 'T-1', worker_node_id: 'implement', evidence_snippet: '16 steps without an ACCEPT' },
    });
    expect(ticket.judge_reasoning).toMatch(
      /^high from 15 steps without an ACCEPT on: 16 steps .*; last judgements CONT/,
    );
  });

  test('quotes at most 500 characters of the last output', () => {
    const output = {
      ...example(Topic.agentObservation, 'AGENT_HEARTBEAT').payload.output,
      tail: ['x'.repeat(600), 'end'],
    };
    const { evidence_snippet: snippet } = filed({ output: output as HeartbeatPayload['output'] }).ticket;
    expect(snippet).toHaveLength(500);
    expect(snippet.endsWith('x\nend')).toBe(true);
  });

  test('is transient after one timeout and a later success, and not after two timeouts', () => {
    const timeout = (id: string) => call(id, { outcome: 'error', error_class: 'TimeoutError', result_hash: id });
    const since = call('ok', { result_hash: 'other' });
    expect(filed({ tool_calls: [timeout('1'), since] }).findings.transient).toBe(true);
    expect(filed({ tool_calls: [timeout('1')] }).findings.transient).toBe(false);
    expect(filed({ tool_calls: [timeout('1'), timeout('2'), since] }).findings.transient).toBe(false);
    const refused = call('3', { outcome: 'error', error_class: 'EACCES' });
    expect(filed({ tool_calls: [refused, since] }).findings.transient).toBe(false);
  });

  test('has the last progress since the last ACCEPT, null if there was none', () => {
    expect(filed().findings.progressAt).toBeNull();
    const edit = call('w', { mutating: true, ended_at: T0 + AFTER - 1000 });
    expect(filed({ tool_calls: [edit] }).findings.progressAt).toBe(T0 + AFTER - 1000);
    const a = agent();
    a.steps(0, 0);
    a.steps(1000, 1, 'ACCEPT');
    expect(a.steps(AFTER, 16)[0]?.findings.progressAt).toBeNull();
  });
});

describe('filed by another program', () => {
  const whole: EscalationTicket = {
    ...example(Topic.agentObservation, 'FILE_TICKET').payload.ticket,
    ...{ ticket_id: 't-1', created_at: '2026-11-22T12:00:00Z', worker_agent_id: 'a1', severity: 'low' },
    ...{ stall_minutes: null, evidence_snippet: 'x'.repeat(500) },
  };

  test('is announced unchanged if it is complete, and does not count as one of Vigil’s', () => {
    const a = agent();
    a.steps(0, 0);
    expect(a.file(whole).map(({ ticket }) => ticket)).toEqual([whole]);
    expect(severities(a.steps(AFTER, 15))).toEqual(['high']);
    expect(a.file({ ...whole, ticket_id: 't-2' })).toHaveLength(1);
    expect(a.memory()).toContain('"tickets":[]');
  });

  test.each([
    ['worker_agent_id is a2: file it under that agent', { worker_agent_id: 'a2' }],
    ['cause is empty: write it', { cause: ' ' }],
    ['severity is not one of low, medium, high, critical: name one', { severity: 'UNKNOWN' }],
    ['created_at is today: write an ISO 8601 time', { created_at: 'today' }],
    ['total_steps_checked is -1: count from 0', { total_steps_checked: -1 }],
    ['stall_minutes is -1: count from 0, or null', { stall_minutes: -1 }],
    ['evidence_snippet has 501 characters: keep at most 500', { evidence_snippet: 'x'.repeat(501) }],
  ] as const)('%s', (words, more) => {
    const a = agent();
    a.receive(0);
    const file = () => a.file({ ...whole, ...more });
    expect(file).toThrow(Unwelcome);
    expect(file).toThrow(`ticket t-1 of a1: ${words}`);
    expect(a.all()).toEqual([]);
  });

  test('a ticket for an unknown agent is refused', () => {
    expect(() => agent().file(whole)).toThrow('which is unknown');
  });
});
