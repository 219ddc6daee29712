import { expect, test } from 'vitest';
import { answerFor } from './answer.ts';

const texts = [{ orderId: 'o-1', text: 'Are you still there?' }];
const now = Date.UTC(2026, 10, 22);
const json = (...args: Parameters<typeof answerFor>) => JSON.parse(answerFor(...args) ?? 'null');

test('where there is nothing to say, nothing is printed', () => {
  expect(answerFor('PostToolUse', [], null, now)).toBeNull();
});

test.each(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure'])(
  'after %s a text is context',
  (event) => {
    expect(json(event, texts, null, now)).toEqual({
      hookSpecificOutput: { hookEventName: event, additionalContext: 'Are you still there?' },
    });
  },
);

test('at the end of a turn a text is a reason to go on', () => {
  expect(json('Stop', [...texts, { orderId: 'o-2', text: 'Save.' }], null, now)).toEqual({
    decision: 'block',
    reason: 'Are you still there?\n\nSave.',
  });
});

test('a refused call says which breaker, after how many failures, and from when again', () => {
  const denial = { breaker: 'tool_execution', failures: 5, nextAttemptAt: now + 22_400 };
  expect(json('PreToolUse', [], denial, now)).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason:
        'Vigil: the circuit breaker tool_execution is open after 5 failed calls in a row; the next attempt may be made at 2026-11-22T00:00:22.400Z, in 23 s. Find out why they fail before you go on.',
    },
  });
  expect(answerFor('PreToolUse', [], { ...denial, nextAttemptAt: null }, now)).toContain('trial call');
});

test('nothing but a call that is asked about is ever refused', () => {
  expect(answerFor('PostToolUse', [], { breaker: 'tool_execution', failures: 5, nextAttemptAt: null }, now)).toBeNull();
});
