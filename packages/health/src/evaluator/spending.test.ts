import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { at, brief, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { explain } from './explain.ts';
import { agentHealth } from './health.ts';
import { type AgentState, UNSEEN } from './state.ts';

const policy = (spending: string) =>
  policyOf(`
policy: counted
signals: { no_activity: { after: 1h } }
states: { STUCK: [no_activity] }
spending: ${spending}
`);
const agent = (spending: string) => given(agentHealth(policy(spending)), T0);
const spent = (emitted: ReturnType<typeof brief>) => emitted.filter((one) => one.startsWith('AGENT_SPENT'));

describe('the use of an agent', () => {
  test('counts for its task and for the day, each token once', () => {
    const one = agent('{ task: { tokens: 100 }, day: { tokens: 1000 } }');
    const working = { activity: 'working', task_id: 'T1' } as const;
    expect(spent(brief(one.receive(heartbeat(0, { ...working, token_count: 40 }), T0)))).toEqual([
      'AGENT_SPENT task T1: 40',
      'AGENT_SPENT day counted: 40',
    ]);
    expect(spent(brief(one.receive(heartbeat(1000, { ...working, token_count: 40 }), T0 + 1000)))).toEqual([]);
    expect(spent(brief(one.receive(heartbeat(2000, { ...working, token_count: 45 }), T0 + 2000)))).toEqual([
      'AGENT_SPENT task T1: 5',
      'AGENT_SPENT day counted: 5',
    ]);
  });

  test('counts for the agent itself if that is limited, also for a sub-agent', () => {
    const limited = '{ agent: { tokens: 5 } }';
    expect(spent(brief(agent(limited).receive(heartbeat(0, { token_count: 40 }), T0)))).toEqual([
      'AGENT_SPENT agent a1: 40',
    ]);
    const subagent = { task_id: null, parent_agent_id: 'w', labels: { parent_task: 'T1' }, token_count: 9 };
    expect(spent(brief(agent(limited).receive(heartbeat(0, subagent), T0)))).toEqual(['AGENT_SPENT agent a1: 9']);
  });

  test('is announced once with each new limit, without another token, and once when the limit is removed', () => {
    const spentUnder = (limits: readonly string[]) => {
      let state: AgentState = UNSEEN;
      return limits.map((limit, i) => {
        const decider = agentHealth(policy(limit));
        const clock = at(1000 * i);
        if (i === 0) state = decider.observe(state, heartbeat(0, { task_id: 'T1', token_count: 40 }), clock);
        const drafts = decider.decide(state, clock);
        for (const draft of drafts) state = decider.evolve(state, draft);
        return drafts.flatMap(({ type, payload }) =>
          type === 'AGENT_SPENT' ? [`${payload.scope} ${payload.tokens} of ${payload.limitTokens}`] : [],
        );
      });
    };
    const limits = ['{ task: { tokens: 40 } }', '{ task: { tokens: 90 } }', '{ task: { tokens: 90 } }', 'null', 'null'];
    expect(spentUnder(limits)).toEqual([['task 40 of 40'], ['task 0 of 90'], [], ['task 0 of null'], []]);
  });

  test('is not counted if it is unknown or unlimited', () => {
    const unlimited = agent('null');
    expect(spent(brief(unlimited.receive(heartbeat(0, { task_id: 'T1', token_count: 40 }), T0)))).toEqual([]);
    expect(
      spent(brief(agent('{ task: { tokens: 100 } }').receive(heartbeat(0, { task_id: 'T1', token_count: null }), T0))),
    ).toEqual([]);
  });

  test('in another instance counts from zero again', () => {
    const one = agent('{ task: { tokens: 100 } }');
    one.receive(heartbeat(0, { task_id: 'T1', instance_id: 'i1', sequence: 1, token_count: 40 }), T0);
    const emitted = one.receive(
      heartbeat(1000, { task_id: 'T1', instance_id: 'i2', sequence: 1, token_count: 7 }),
      T0 + 1000,
    );
    expect(spent(brief(emitted))).toEqual(['AGENT_SPENT task T1: 7']);
  });

  test('as a sub-agent counts for the task of its parent', () => {
    const one = agent('{ task: { tokens: 100 } }');
    const subagent = { task_id: null, parent_agent_id: 'w', labels: { parent_task: 'T1' }, token_count: 9 };
    expect(spent(brief(one.receive(heartbeat(0, subagent), T0)))).toEqual(['AGENT_SPENT task T1: 9']);
  });
});

/** Tokens and money that a list of heartbeats, a second apart, adds to the sum of the task. */
const addedBy = (
  heartbeats: readonly Partial<HeartbeatPayload>[],
  limits = '{ task: { tokens: 100, usd: 9 }, cost: reported }',
) => {
  const one = agent(limits);
  return heartbeats.map((more, i) => {
    const emitted = one.receive(heartbeat(i * 1000, { task_id: 'T1', sequence: i + 1, ...more }), T0 + i * 1000);
    const [added] = emitted.flatMap(({ type, payload }) => (type === 'AGENT_SPENT' ? [payload] : []));
    return added === undefined ? null : [added.tokens, added.usd];
  });
};
const counts = (tokens: readonly (number | null)[]) => tokens.map((token_count) => ({ token_count }));
const session = (session_id: string | null, token_count: number | null, cost_usd: number | null = null) => ({
  client: { name: 'claude-code', session_id },
  token_count,
  cost_usd,
});

describe('a count that begins again within an instance', () => {
  test('belongs to another session: its use is added, for the agent, its task and the day', () => {
    const one = agent('{ agent: { tokens: 9 }, task: { tokens: 9 }, day: { tokens: 9 } }');
    const sums: Record<string, number> = {};
    for (const [i, token_count] of [900, 5, 400, 850].entries())
      for (const event of one.receive(heartbeat(i * 1000, { sequence: i + 1, token_count }), T0 + i * 1000))
        if (event.type === 'AGENT_SPENT')
          sums[event.payload.scope] = (sums[event.payload.scope] ?? 0) + event.payload.tokens;
    expect(sums).toEqual({ agent: 1750, task: 1750, day: 1750 });
  });

  test('is counted from zero, though it was unknown in between', () => {
    expect(addedBy(counts([900, null, 5, 6]))).toEqual([[900, null], null, [5, null], [1, null]]);
  });

  test('does not exist if the count is unknown or the same', () => {
    expect(addedBy(counts([900, null, 0, 900, 901]))).toEqual([[900, null], null, null, null, [1, null]]);
  });

  test('is not counted twice after a late heartbeat, with or without a sequence', () => {
    const late = { token_count: 40, timestamp: T0 + 500 };
    expect(addedBy([{ token_count: 40 }, { token_count: 90 }, { ...late, sequence: 1 }, { token_count: 91 }])).toEqual([
      [40, null],
      [50, null],
      null,
      [1, null],
    ]);
    const own = (token_count: number) => ({ token_count, sequence: null });
    expect(addedBy([own(40), own(90), { ...late, sequence: null }, own(91)])).toEqual([
      [40, null],
      [50, null],
      null,
      [1, null],
    ]);
  });

  test('adds its money, too', () => {
    const of = (token_count: number | null, cost_usd: number) => ({ token_count, cost_usd });
    expect(addedBy([of(900, 2), of(5, 0.5), of(9, 0.75)])).toEqual([
      [900, 2],
      [5, 0.5],
      [4, 0.25],
    ]);
    expect(addedBy([of(null, 2), of(null, 0.5), of(null, 0.75)])).toEqual([
      [0, 2],
      [0, 0.5],
      [0, 0.25],
    ]);
  });

  test('adds its money by prices', () => {
    const of = (input_tokens: number) => ({
      token_count: input_tokens,
      usage: [{ model: 'm', input_tokens, cache_read_tokens: 0, cache_write_tokens: 0, output_tokens: 0 }],
    });
    const priced = '{ task: { usd: 9 }, prices: { m: { input: 1000000, output: 1 } } }';
    expect(addedBy([of(90), of(5), of(6)], priced)).toEqual([
      [90, 90],
      [5, 5],
      [1, 1],
    ]);
  });

  test('is detected by the session id of the client, even if it begins above the last count', () => {
    expect(addedBy([session('A', 20), session('B', null), session('B', 30)])).toEqual([[20, null], null, [30, null]]);
  });

  test('continues when a session is resumed', () => {
    expect(addedBy([session('A', 900, 2), session('B', 5, 1), session('A', 910, 3), session('B', 6, 1)])).toEqual([
      [900, 2],
      [5, 1],
      [10, 1],
      [1, 0],
    ]);
  });

  test('is a correction if the session is the same: nothing is counted twice', () => {
    expect(addedBy([session('A', 900, 2), session('A', 880, 1.5), session('A', 910, 2.5)])).toEqual([
      [900, 2],
      null,
      [10, 0.5],
    ]);
  });

  test('does not begin by the session id alone, which may be reported late', () => {
    expect(addedBy([{ token_count: 40 }, session('A', 41)])).toEqual([
      [40, null],
      [1, null],
    ]);
  });
});

describe('a session whose id is reported late', () => {
  test('is counted once if it is resumed after another one', () => {
    const heartbeats = [
      { token_count: 40, cost_usd: 2 },
      session('A', 41, 2.5),
      session('B', 5, 1),
      session('A', 50, 3),
    ];
    expect(addedBy(heartbeats)).toEqual([
      [40, 2],
      [1, 0.5],
      [5, 1],
      [9, 0.5],
    ]);
  });

  test('is counted once by each limit, also if it has used nothing since its id was unknown', () => {
    const one = agent('{ agent: { tokens: 9 }, task: { tokens: 9 }, day: { tokens: 9 } }');
    const sums: Record<string, number> = {};
    for (const [i, used] of [session(null, 40), session('A', 40), session('B', 5), session('A', 40)].entries())
      for (const event of one.receive(heartbeat(i * 1000, { sequence: i + 1, task_id: 'T1', ...used }), T0 + i * 1000))
        if (event.type === 'AGENT_SPENT')
          sums[event.payload.scope] = (sums[event.payload.scope] ?? 0) + event.payload.tokens;
    expect(sums).toEqual({ agent: 45, task: 45, day: 45 });
  });

  test('is the second session if the count without an id has fallen; each is counted once', () => {
    const heartbeats = [...counts([900, 5]), session('A', 6), session('B', 1), session('A', 8)];
    expect(addedBy(heartbeats).map((added) => added?.[0] ?? 0)).toEqual([900, 5, 1, 1, 2]);
  });

  test('does not take over the count of an earlier session: its use is added', () => {
    const heartbeats = [{ token_count: 40 }, session('A', 30), session('B', 5), session('A', 31)];
    expect(addedBy(heartbeats).map((added) => added?.[0] ?? 0)).toEqual([40, 30, 5, 1]);
  });
});

const ARN =
  'arn:aws:bedrock:us-gov-west-1:123456789012:inference-profile/us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0';
const PRICED = '{ task: { usd: 100 }, prices: { "*claude-*": { input: 1, output: 1 } } }';
const usageOf = (models: readonly (string | null)[]) =>
  models.map((model) => ({
    ...{ model, input_tokens: 1e6, cache_read_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
  }));
const models = (count: number) => Array.from({ length: count }, (_, i) => `claude-${i}`);

describe('money by prices', () => {
  const usdOf = (names: readonly (string | null)[]) =>
    addedBy([{ token_count: 3000, usage: usageOf(names) }], PRICED)[0]?.[1];

  test('is known for eight models of an instance', () => {
    expect(usdOf(models(8))).toBe(8);
    expect(usdOf(models(9))).toBeNull();
  });

  test('is known for the long names of clouds', () => {
    expect(usdOf([ARN])).toBe(1);
    expect(usdOf([`${'x'.repeat(190)}-claude-4`])).toBe(1);
  });
});

describe('money that is not known', () => {
  const notesOn = (spending: string, used: Partial<HeartbeatPayload>) => {
    const policies = policy(spending);
    const one = given(agentHealth(policies), T0);
    one.receive(heartbeat(0, { task_id: 'T1', ...used }), T0);
    return explain(policies, one.state(), at(0))?.notes;
  };

  test('is explained if it is limited, with the remedy', () => {
    const prices = '{ task: { usd: 1 }, prices: { "claude-*": { input: 1, output: 1 } } }';
    const used = (names: readonly (string | null)[]) => ({ token_count: 9, usage: usageOf(names) });
    expect(notesOn(prices, used(['claude-1']))).toEqual([]);
    expect(notesOn(prices, used(['claude-1', 'gpt-9']))).toEqual([
      'its cost is not known, so no limit in US dollars holds: no price fits model "gpt-9"; add one to spending.prices',
    ]);
    expect(notesOn(prices, used([null]))).toEqual([
      'its cost is not known, so no limit in US dollars holds: it reports tokens of a model without a name, or of too many models',
    ]);
    expect(notesOn(prices, used(models(9)))).toEqual([expect.stringContaining('of too many models')]);
    expect(notesOn(prices, { token_count: 9 })).toEqual([
      'its cost is not known, so no limit in US dollars holds: it does not report its tokens by model',
    ]);
    const reported = '{ day: { usd: 1 }, cost: reported }';
    expect(notesOn(reported, { token_count: 9 })).toEqual([
      'its cost is not known, so no limit in US dollars holds: its client reports no cost; list prices in spending.prices',
    ]);
    expect(notesOn(reported, { token_count: 9, cost_usd: 0.5 })).toEqual([]);
  });

  test('is not mentioned if nothing is used yet, or no money is limited', () => {
    expect(notesOn(PRICED, {})).toEqual([]);
    expect(notesOn('{ task: { tokens: 1 } }', { token_count: 9 })).toEqual([]);
    expect(notesOn('null', { token_count: 9 })).toEqual([]);
  });
});
