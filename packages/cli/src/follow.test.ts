import type { Outcome } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { CannotProceed, Refusal } from './errors.ts';
import { follow, MARGIN_MS, OUTAGE_PATIENCE_MS, PATIENCE_MS, type PartAway } from './follow.ts';

const REGISTRY = { part: 'registry', since: 5 };
const outcome = (kind: Outcome['outcome'], more: Partial<Outcome> = {}): Outcome => ({
  ...{ eventId: 'e-1', outcome: kind, reason: null, until: null, events: [] },
  ...more,
});

type Found = { readonly outcome: Outcome['outcome'] | Error; readonly away?: readonly PartAway[] };

/** Each question takes five seconds of a clock of its own. `at`: what is true at a moment. */
const followed = async (at: (ms: number) => Found & Partial<Pick<Outcome, 'reason' | 'until'>>) => {
  let ms = 0;
  const reported: (readonly PartAway[])[] = [];
  const get = async (path: string): Promise<unknown> => {
    const { outcome: found, away = [], ...more } = at(ms);
    if (path === '/v1/fleet') return { knowledge: { upTo: 1, blindSince: null, away } };
    ms += 5000;
    if (found instanceof Error) throw found;
    return outcome(found, more);
  };
  const result = await follow('e-1', {
    client: { get } as never,
    now: () => ms,
    clock: () => 1_000_000 + ms,
    pause: async () => {},
    onOutage: (away) => reported.push(away),
  });
  return { ...result, ms, reported };
};

test('an outcome ends the wait at once', async () => {
  expect(await followed(() => ({ outcome: 'applied' }))).toMatchObject({
    became: { outcome: 'applied' },
    ms: 5000,
    reported: [],
  });
});

test('a command that waits, with all parts there, is followed for half a minute', async () => {
  const { became, ms, away, reported } = await followed(() => ({ outcome: 'pending' }));
  expect([became.outcome, ms, away, reported]).toEqual(['pending', PATIENCE_MS, [], []]);
});

test('a command that waits until a deadline is followed past it, and one that then waits for something else half a minute more', async () => {
  const until = 1_000_000 + 180_000;
  const grace = await followed(() => ({ outcome: 'pending', reason: 'waits for a to end', until }));
  expect(grace.ms).toBe(180_000 + MARGIN_MS);
  const next = await followed((ms) =>
    ms < 190_000
      ? { outcome: 'pending', reason: 'waits for a to end', until }
      : { outcome: 'pending', reason: 'waits for a fresh agent' },
  );
  expect(next.ms).toBe(195_000 + PATIENCE_MS);
});

test('when what had a deadline is over before it, that deadline is waited for no longer', async () => {
  const until = 1_000_000 + 180_000;
  const next = await followed((ms) =>
    ms < 20_000
      ? { outcome: 'pending', reason: 'waits for a to end', until }
      : { outcome: 'pending', reason: 'no runtime can start its task', until: null },
  );
  expect(next.ms).toBe(25_000 + PATIENCE_MS);
});

test('while the registry is away the wait continues, and is reported once; its return shows the outcome', async () => {
  const found = await followed((ms) =>
    ms < 120_000 ? { outcome: 'pending', away: [REGISTRY] } : { outcome: ms < 135_000 ? 'pending' : 'applied' },
  );
  expect(found).toMatchObject({ became: { outcome: 'applied' }, reported: [[REGISTRY]] });
});

test('a registry that stays away ends the wait after five minutes, with what is away', async () => {
  const found = await followed(() => ({ outcome: 'pending', away: [REGISTRY] }));
  expect([found.became.outcome, found.ms, found.away]).toEqual(['pending', OUTAGE_PATIENCE_MS, [REGISTRY]]);
});

test('a command that is still undecided half a minute after all parts are back ends the wait, and nothing is away', async () => {
  const found = await followed((ms) => ({ outcome: 'pending', away: ms < 100_000 ? [REGISTRY] : [] }));
  expect([found.became.outcome, found.away]).toEqual(['pending', []]);
  expect(found.ms).toBeLessThanOrEqual(100_000 + PATIENCE_MS);
});

test('a dashboard that cannot answer now is asked again, and its refusal ends the wait', async () => {
  const found = await followed((ms) => ({ outcome: ms < 20_000 ? new CannotProceed('Postgres') : 'applied' }));
  expect(found.became.outcome).toBe('applied');
  await expect(followed(() => ({ outcome: new Refusal('no') }))).rejects.toThrow('no');
});
