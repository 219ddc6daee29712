import { adapters } from '@vigil/adapters';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientNamed, type Moment, momentsOf, recordings } from '../screen/recordings.fixture.ts';
import type { Surface } from '../screen/surface.ts';
import { decideTyping, noSession, PROMPT_STEADY_MS, type SessionFacts } from './decide.ts';

const raw = { canonical: false, echo: false, opost: false };
const anySession: fc.Arbitrary<SessionFacts> = fc.record({
  turnOpen: fc.constantFrom(null, true, false),
  waitingFor: fc.constantFrom(null, 'permission' as const, 'question' as const, 'prompt' as const),
});

const surfaceAt = (
  client: string,
  { view, bracketedPaste, meaning }: Moment,
  steadyMs: number,
  headless = false,
): Surface => {
  const adapter = clientNamed(client);
  const invocation = { headless, streamsEvents: false, printsProgress: false };
  return { view, bracketedPaste, mode: raw, client: { ...adapter, invocation }, meaning, steadyMs };
};

const asksAtTimes = (await Promise.all(recordings.map(momentsOf)))
  .map((moments, index) => ({
    name: recordings[index]?.name ?? '',
    client: recordings[index]?.client ?? '',
    asking: moments.filter(({ situation, meaning }) => situation === 'dialog' || meaning.kind === 'dialog'),
  }))
  .filter(({ asking }) => asking.length > 0);

test.each(asksAtTimes)(
  '$name: nothing is typed while it waits for an answer, at any arrival of an order and after any hook',
  ({ client, asking }) => {
    fc.assert(
      fc.property(fc.constantFrom(...asking), anySession, fc.nat(60_000), (moment, session, steadyMs) => {
        expect(decideTyping(surfaceAt(client, moment, steadyMs), session).kind).toBe('wait');
      }),
    );
    for (const moment of asking)
      expect(decideTyping(surfaceAt(client, moment, 60_000), { turnOpen: false, waitingFor: 'prompt' }).kind).toBe(
        'wait',
      );
  },
);

test('the recordings show dialogs of all clients', () => {
  expect(new Set(asksAtTimes.map(({ client }) => client))).toEqual(new Set(adapters.map(({ name }) => name)));
  expect(asksAtTimes.length).toBeGreaterThan(12);
});

test.each(recordings)(
  '$name: without an adapter nothing is typed after the program has taken the terminal over',
  async (recording) => {
    for (const moment of await momentsOf(recording)) {
      const surface = { ...surfaceAt(recording.client, moment, 60_000), client: null };
      expect(decideTyping(surface, noSession).kind).toBe('wait');
    }
  },
);

test.each(recordings)('$name: a headless client is typed at at no moment', async (recording) => {
  for (const moment of await momentsOf(recording))
    expect(decideTyping(surfaceAt(recording.client, moment, 60_000, true), noSession).kind).toBe('never');
});

test('at its empty prompt each client is typed at, after it has stood there for three seconds and no sooner', async () => {
  for (const recording of recordings.filter(({ name }) => name.endsWith('prompt-and-hang.cast'))) {
    const [prompt, pasted] = (await momentsOf(recording)).filter(({ isMark }) => isMark);
    if (prompt === undefined || pasted === undefined) throw new Error('the recording has no marks');
    const decide = (moment: Moment, steadyMs: number, session = noSession) =>
      decideTyping(surfaceAt(recording.client, moment, steadyMs), session).kind;
    expect(decide(prompt, PROMPT_STEADY_MS)).toBe('paste');
    expect(decide(prompt, PROMPT_STEADY_MS - 1)).toBe('wait');
    expect(decide(prompt, PROMPT_STEADY_MS, { turnOpen: true, waitingFor: null })).toBe('wait');
    expect(decide(prompt, PROMPT_STEADY_MS, { turnOpen: false, waitingFor: 'permission' })).toBe('wait');
    expect(decide(prompt, PROMPT_STEADY_MS, { turnOpen: false, waitingFor: 'prompt' })).toBe('paste');
    expect(decide(pasted, PROMPT_STEADY_MS)).toBe('wait');
  }
});

test('no client stands at its prompt for three seconds on its way to a dialog', async () => {
  for (const recording of recordings) {
    const moments = await momentsOf(recording);
    moments.forEach((moment, at) => {
      const next = moments[at + 1];
      if (moment.meaning.kind !== 'prompt' || moment.isMark || next === undefined || next.isMark) return;
      if (next.meaning.kind !== 'dialog') return;
      const since = moments.slice(0, at).findLastIndex(({ meaning }) => meaning.kind !== 'prompt');
      expect(next.seconds - (moments[since + 1]?.seconds ?? 0)).toBeLessThan(PROMPT_STEADY_MS / 1000);
    });
  }
});
