import { expect, test } from 'vitest';
import { LATE_MS, ownEvents } from './own-events.ts';

const opened = () => {
  const state = { ready: true, now: 0 };
  return {
    state,
    ask: ownEvents(
      () => state.ready,
      () => state.now,
    ),
  };
};

test('a dashboard whose live events are late for a moment is not away, however often', async () => {
  const { state, ask } = opened();
  for (let i = 0; i < 10; i += 1) {
    state.ready = i % 2 === 0;
    state.now += LATE_MS - 1;
    await ask();
  }
});

test('a dashboard that stays behind reports by how much, until it has read everything', async () => {
  const { state, ask } = opened();
  state.ready = false;
  await ask();
  state.now += 12_300;
  await expect(ask()).rejects.toThrow('it answers, but its live events are 12 s behind');
  state.ready = true;
  await ask();
  state.ready = false;
  await ask();
});
