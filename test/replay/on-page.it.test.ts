import type { Replay } from '@vigil/read-model';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';

type Agents = { readonly agents: readonly { readonly agentId: string; readonly state: string }[] };
type Answer = Replay & { readonly detail?: string };

describe.skipIf(!ownServers)('a replay that the dashboard runs', () => {
  let on: TestSystem;
  /** The end of the compared span, so that the command line compares the same one. */
  let end: number;
  let begun: number;

  const ask = async <Body>(method: string, address: string, body: object | null): Promise<Body> => {
    const { VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: token } = on.system.env;
    const response = await fetch(`${url}${address}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== null && { 'content-type': 'application/json' }) },
      ...(body !== null && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Body;
  };

  /** The replay when it has ended. */
  const replayed = async (body: object): Promise<Answer> => {
    const { replayId, detail } = await ask<Answer>('POST', '/v1/replays', body);
    expect(detail).toBeUndefined();
    return until(`the end of ${JSON.stringify(body)}`, async () => {
      const found = await ask<Answer>('GET', `/v1/replays/${replayId}`, null);
      return found.endedAt !== null && found;
    });
  };

  /** What the command line finds in the same span. */
  const commanded = async (...words: readonly string[]) => {
    const { stdout } = await on.vigil('replay', ...words, '--to', new Date(end).toISOString(), '--json');
    return JSON.parse(stdout);
  };

  beforeAll(async () => {
    on = await openSystem({
      name: 'replay-on-page',
      services: ['gateway', 'heartbeat-ingest', 'health-evaluator', 'projector', 'dashboard'],
    });
    begun = Date.now();
    const fleet = await on.fleet(['hangs', 'loops']);
    await until('both agents are found', async () => {
      const { agents } = await ask<Agents>('GET', '/v1/agents', null);
      return ['hangs', 'loops'].every((name) =>
        agents.some(({ agentId, state }) => agentId === name && ['STUCK', 'FAILING'].includes(state)),
      );
    });
    end = Date.now();
    await fleet.stop();
  }, 400_000);
  afterAll(async () => {
    await on?.stop();
  });

  test('verifies that every decision is as recorded, as `vigil replay verify` does', async () => {
    const { state, why, done, of, result } = await replayed({ kind: 'verify', until: end });
    expect({ state, why }).toEqual({ state: 'done', why: null });
    expect(done).toBe(of);
    const { agents, differences } = await commanded('verify');
    expect(result).toMatchObject({ kind: 'verify', agents, differentCount: 0, differences: [], earlier: [] });
    expect(differences).toEqual([]);
    expect(agents).toBeGreaterThanOrEqual(2);
  });

  test('folds the span under a published policy as `vigil replay what-if` does', async () => {
    const { state, why, policyName, result } = await replayed({ kind: 'what_if', policy: 'vigil', until: end });
    expect({ state, why, policyName }).toEqual({ state: 'done', why: null, policyName: 'vigil' });
    const { recorded, otherwise, different, actedOtherwise } = await commanded('what-if', '--policy', 'vigil');
    expect(result).toMatchObject({ recorded, otherwise, actedOtherwise, differentCount: different.length });
    const hangs = { agent: 'hangs', differsFrom: expect.any(Number) };
    expect(result).toMatchObject({ different: expect.arrayContaining([expect.objectContaining(hangs)]) });
    expect(otherwise.stuck).toBeLessThan(recorded.stuck);
  });

  test('reads the figures of an agent from the log, with its silence up to its limit', async () => {
    const { state, why, result } = await replayed({ kind: 'figures', agent: 'hangs', since: begun, until: end });
    expect({ state, why }).toEqual({ state: 'done', why: null });
    if (result?.kind !== 'figures') throw new Error('another kind');
    const reached = result.signals.filter(
      ({ limit, values }) => limit !== null && values.some((one) => (one ?? 0) >= limit),
    );
    expect(reached.map(({ signal }) => signal)).toContain('no_activity');
    expect(result.at.every((at) => begun <= at && at <= end)).toBe(true);
  });

  test('one agent is compared alone, and a policy that was not recorded is not replaced', async () => {
    const one = await replayed({ kind: 'what_if', policy: 'vigil', agent: 'loops', until: end });
    expect(one.result).toMatchObject({ agents: 1 });
    const unknown = await replayed({ kind: 'what_if', policy: 'vigil', insteadOf: 'dem' });
    expect(unknown).toMatchObject({ state: 'failed', result: null });
    expect(unknown.why).toContain('no recorded policy is called dem: give one of ');
  });
});
