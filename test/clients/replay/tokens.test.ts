import { adapterNamed, newSession, observe } from '@vigil/adapters';
import { recordedTranscripts } from '@vigil/adapters/recordings';
import type { ContextUse } from '@vigil/events';
import { agentHealth } from '@vigil/health';
import { heartbeat, policyOf, presetsWith, T0 } from '@vigil/health/fixture';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';

const MINUTE = 60_000;
const decider = agentHealth(
  policyOf(`
policy: tokens
signals:
  token_spike: { factor: 5, min_samples: 5 }
  token_burn: { for: 60m }
  no_tokens: { after: 30m }
  context_exhausted: { above: 0.95 }
states: { STUCK: [token_spike], FAILING: [token_burn], DEGRADED: [no_tokens, context_exhausted] }
`),
);

/** The counts of the client's session file, as its agent reports them after each answer. */
const reportsOf = (client: string, run: string) => {
  const adapter = adapterNamed(client);
  const lines = recordedTranscripts(client).get(run);
  if (!adapter || !lines) throw new Error(`there is no session file ${run} of ${client}`);
  const counts: number[] = [];
  let context: ContextUse | null = null;
  let state = adapter.transcript.initial;
  let session = newSession;
  for (const { line } of lines) {
    const read = adapter.transcript.read(state, line);
    state = read.state;
    for (const event of read.events) {
      const observed = observe(session, event);
      session = observed.session;
      for (const { fields } of observed.reports) {
        if (fields.token_count && fields.token_count > (counts.at(-1) ?? 0)) counts.push(fields.token_count);
        context = fields.context ?? context;
      }
    }
  }
  return { counts, context };
};

/** An agent at work that reports a count a minute; `null`: unknown. */
const judged = (counts: readonly (number | null)[], context: ContextUse | null = null, by = decider) => {
  const agent = given(by, T0);
  counts.forEach((token_count, i) => {
    const reported = { token_count, context, activity: 'working', reporter: 'runtime', interval_ms: MINUTE } as const;
    agent.receive(heartbeat(i * MINUTE, reported), T0 + i * MINUTE);
  });
  return agent.all().flatMap((event) => (event.type === 'HEALTH_STATE_CHANGED' ? [event.payload.reason] : []));
};

const SESSIONS = [
  ['claude-code', 'cc-loops'],
  ['codex', 'cx-loops'],
  ['gemini-cli', 'gm-loops'],
] as const;

/** Tokens: of the recorded models. */
const windows: Readonly<Record<string, number>> = {
  'claude-code': 1_000_000,
  codex: 258_400,
  'gemini-cli': 1_048_576,
};

describe.each(SESSIONS)('tokens as %s counts them (%s)', (client, run) => {
  const { counts, context } = reportsOf(client, run);
  const last = counts.at(-1) ?? 0;
  /** the recorded uses, repeated, a minute apart */
  const going = (minutes: number) =>
    Array.from({ length: minutes }, (_, i) => Math.floor(i / counts.length) * last + (counts[i % counts.length] ?? 0));
  const steady = Array.from({ length: 8 }, (_, i) => (i + 1) * last);

  test('rise with each answer', () => {
    expect(counts.length).toBeGreaterThan(3);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    // A heartbeat of an answer has a larger count than the one before; others repeat it.
    expect(new Set(counts).size).toBeGreaterThan(3);
  });

  test('token_spike does not fire at five times the usual use, and fires above it', () => {
    expect(judged([...steady, 13 * last])).toEqual([]);
    expect(judged([...steady, 14 * last])).toEqual([expect.stringContaining('tokens a minute')]);
  });

  test('token_burn does not fire after an hour of use without progress, and fires after more', () => {
    expect(judged(going(61))).toEqual([]);
    expect(judged(going(63))).toEqual([expect.stringContaining('without progress')]);
  });

  test('no_tokens does not fire after half an hour without use, and fires after more; it never fires for an unknown count', () => {
    const silent = (minutes: number, count: number | null) => [
      ...counts,
      ...Array.from({ length: minutes }, () => count),
    ];
    expect(judged(silent(30, last))).toEqual([]);
    expect(judged(silent(32, last))).toEqual([expect.stringContaining('no token used')]);
    expect(judged(silent(300, null))).toEqual([]);
    expect(judged(Array.from({ length: 300 }, () => null))).toEqual([]);
  });

  test('context_exhausted does not fire at 95 % of the window, and fires above it', () => {
    const { tokens_max } = context ?? { tokens_max: 0 };
    expect(tokens_max).toBe(windows[client]);
    expect(judged(counts, context)).toEqual([]);
    expect(judged(counts, { tokens_max, tokens_used: Math.floor(0.95 * tokens_max) })).toEqual([]);
    expect(judged(counts, { tokens_max, tokens_used: Math.ceil(0.96 * tokens_max) })).toEqual([
      expect.stringContaining('of the context used'),
    ]);
  });
});

/** omniclaude's `usage_pct > threshold_pct`, 80 by default; botbox's tokens without progress. */
describe.each(SESSIONS)('the figures of %s’s own session file reach the presets of the seeds (%s)', (client, run) => {
  const { counts, context } = reportsOf(client, run);
  const { tokens_max } = context ?? { tokens_max: 0 };
  const used = (share: number) => ({ tokens_max, tokens_used: Math.floor(share * tokens_max) });
  const [omniclaude, botbox] = [agentHealth(presetsWith('omniclaude')), agentHealth(presetsWith('botbox'))];

  test('omniclaude: a context above 80 % is a stall, one of 80 % is not', () => {
    const first = counts.slice(0, 2);
    expect(judged(first, used(0.8), omniclaude)).toEqual([]);
    expect(judged(first, used(0.81), omniclaude)).toEqual([
      expect.stringMatching(/^81 % of the context used; limit 80 %/),
    ]);
  });

  test('botbox: tokens that are used for half an hour without progress are found, up to then they are not', () => {
    const last = counts.at(-1) ?? 0;
    const burning = (minutes: number) => Array.from({ length: minutes }, (_, i) => (i + 1) * last);
    expect(judged(burning(31), null, botbox)).toEqual([]);
    expect(judged(burning(33), null, botbox)).toEqual([
      expect.stringMatching(/^tokens used for 3\d min .*without progress/),
    ]);
  });
});

test('a count that is known again after it was unknown is not a spike', () => {
  const counts = [1000, 2000, 3000, 4000, 5000, 6000, 7000, null, null, 90_000, 91_000, 92_000];
  expect(judged(counts)).toEqual([]);
});
