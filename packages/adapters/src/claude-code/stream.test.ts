import { describe, expect, test } from 'vitest';
import { newSession, observe } from '../session/session.ts';
import { claudeStream } from './stream.ts';

const SESSION_ID = 's-1';
const noon = Date.parse('2026-11-23T12:00:00Z');
const init = { type: 'system', subtype: 'init', session_id: SESSION_ID };
const apiError = {
  type: 'assistant',
  error: 'invalid_request',
  message: { content: [{ type: 'text', text: 'API Error: 400' }] },
  timestamp: new Date(noon).toISOString(),
};
const failedResult = (subtype: string) => ({ type: 'result', subtype, is_error: true, total_cost_usd: 0 });

/** The reports of the session after these lines; `readAt`: when they are read. */
const after = (readAt: number, ...lines: readonly object[]) => {
  let [state, session] = [claudeStream.initial, newSession];
  const errors: unknown[] = [];
  let fields: Readonly<Record<string, unknown>> = {};
  for (const line of lines) {
    const read = claudeStream.read(state, JSON.stringify({ ...line, session_id: SESSION_ID }), readAt);
    state = read.state;
    for (const event of read.events) {
      const observed = observe(session, event);
      session = observed.session;
      for (const report of observed.reports) {
        fields = report.fields;
        errors.push(...(report.fields.errors ?? []));
      }
    }
  }
  return { fields, errors, session };
};

test('a turn ends even if the time of its end is older than the time at which its start was read', () => {
  const { fields } = after(noon + 5000, init, apiError, failedResult('success'));
  expect(fields).toMatchObject({ activity: 'blocked', turn: { open: false } });
});

test('an error that ends a turn is reported once, whether a message names it or only the result', () => {
  const named = after(noon, init, apiError, failedResult('success'));
  expect(named.errors).toMatchObject([{ error_class: 'invalid_request' }]);
  const unnamed = after(noon, init, failedResult('error_max_turns'));
  expect(unnamed.errors).toMatchObject([{ error_class: 'error_max_turns' }]);
  expect(unnamed.fields).toMatchObject({ activity: 'blocked', turn: { open: false } });
});

test('a turn after a failed turn can fail, too', () => {
  const { errors } = after(noon, init, apiError, failedResult('success'), init, failedResult('error_max_turns'));
  expect(errors).toHaveLength(2);
});

describe('a sub-agent without an id of its own, named by the call that started it', () => {
  const uses = (parent: string | null, id: string, name: string) => ({
    type: 'assistant',
    parent_tool_use_id: parent,
    message: { id: `m-${id}`, content: [{ type: 'tool_use', id, name, input: { prompt: 'x' } }] },
  });
  const result = (parent: string | null, id: string, more: object = {}) => ({
    type: 'user',
    parent_tool_use_id: parent,
    message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'done' }] },
    ...more,
  });
  const begun = [init, uses(null, 'task-1', 'Task'), uses('task-1', 'c-1', 'Bash'), result('task-1', 'c-1')];
  const open = (...lines: readonly object[]) =>
    Object.values(after(noon, ...begun, ...lines).session.subagents).map(({ turn, ended }) => [turn?.open, ended]);

  test('works until the result of that call', () => {
    expect(open()).toEqual([[true, false]]);
    expect(open(result(null, 'task-1'))).toEqual([[false, true]]);
    expect(open(result(null, 'task-1'), uses(null, 'c-2', 'Bash'))).toEqual([[false, true]]);
  });

  test('continues after the result of another call, and if the call has only started it in the background', () => {
    expect(open(uses(null, 'c-2', 'Bash'), result(null, 'c-2'))).toEqual([[true, false]]);
    const launched = { tool_use_result: { isAsync: true, status: 'async_launched' } };
    expect(open(result(null, 'task-1', launched))).toEqual([[true, false]]);
  });
});
