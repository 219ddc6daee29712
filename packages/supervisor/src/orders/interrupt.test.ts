import type { ScreenMeaning } from '@vigil/adapters/adapter';
import { describe, expect, test } from 'vitest';
import { decideInterrupt, type Interruptible } from './client-control.ts';

const escapeKey = { kind: 'key', data: '\x1b' } as const;
const prompt = { kind: 'prompt', pending: null, turnOver: false } as ScreenMeaning;
const works: Interruptible = { meaning: { kind: 'working' }, turnOpen: true, isWaiting: false };
const kindOf = (more: Partial<Interruptible>) => decideInterrupt(escapeKey, { ...works, ...more }).kind;

describe('the key that interrupts a turn', () => {
  test('is pressed while the screen shows that the client works, or retries', () => {
    expect(decideInterrupt(escapeKey, works)).toEqual({ kind: 'press', keys: '\x1b' });
    expect(kindOf({ meaning: { kind: 'retrying', text: 'attempt 1 of 10', limit: null }, turnOpen: null })).toBe(
      'press',
    );
  });

  test.each(['permission', 'question', 'plan', 'dialog'] as const)('is never pressed in a dialog (%s)', (wait) => {
    expect(kindOf({ meaning: { kind: 'dialog', wait, text: 'Do you want to proceed?' } })).toBe('refused');
  });

  test('is never pressed while the agent waits for a person, on any screen', () => {
    expect(kindOf({ isWaiting: true })).toBe('refused');
  });

  test('is never pressed at a screen that is not understood', () => {
    expect(kindOf({ meaning: { kind: 'unknown' } })).toBe('refused');
  });

  test('is pressed at the prompt only where the hooks report an open turn, and never where a text is in its input line', () => {
    expect(kindOf({ meaning: prompt })).toBe('press');
    expect(kindOf({ meaning: prompt, turnOpen: false })).toBe('refused');
    expect(kindOf({ meaning: prompt, turnOpen: null })).toBe('refused');
    expect(kindOf({ meaning: { ...prompt, pending: 'a text' } as ScreenMeaning })).toBe('refused');
  });
});

test('a headless client is interrupted by its resume; one without a way to be interrupted reports the reason', () => {
  expect(decideInterrupt({ kind: 'signal', signal: 'SIGINT' }, works)).toMatchObject({ kind: 'refused' });
  expect(decideInterrupt({ kind: 'none', why: 'it has no turns' }, works)).toEqual({
    kind: 'refused',
    why: 'it has no turns',
  });
});
