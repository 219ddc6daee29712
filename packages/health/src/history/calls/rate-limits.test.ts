import { describe, expect, test } from 'vitest';
import { type Call, call, type HeartbeatPayload, T0 } from '../../fixture.ts';
import { MIN, output, preset, SEC } from '../../presets/judging.fixture.ts';
import type { Heartbeats } from '../../signals/testing/case.ts';

const vigil = preset('vigil');
const closed = { open: false, started_at: T0, last_event_at: T0 };
/** A client whose turn ended with a rate limit, which every heartbeat repeats. */
const limited = (retry: number | null, more: Partial<HeartbeatPayload> = {}): Partial<HeartbeatPayload> => ({
  reporter: 'runtime',
  activity: 'rate_limited',
  turn: closed,
  rate_limit: retry === null ? null : { retry_at: T0 + retry },
  ...more,
});
const reported = (retry: number | null, until: number, more: Partial<HeartbeatPayload> = {}): Heartbeats => [
  [0, limited(retry, { tool_calls: [call('c0')], ...more })],
  ...Array.from({ length: until / MIN }, (_, i): Heartbeats[number] => [(i + 1) * MIN, limited(retry, more)]),
];

describe('a session that reports its limit with every heartbeat', () => {
  test('is exempt until exactly the reset, and its silence counts from then', () => {
    const heartbeats = reported(20 * MIN, 40 * MIN);
    expect(vigil.at(heartbeats.slice(0, 20), 20 * MIN - 1).fires).toEqual(['rate_limited']);
    expect(vigil.at(heartbeats.slice(0, 21), 20 * MIN).fires).toEqual([]);
    expect(vigil.at(heartbeats.slice(0, 27), 26 * MIN)).toMatchObject({ state: 'HEALTHY' });
    expect(vigil.at(heartbeats.slice(0, 27), 26 * MIN + 1)).toMatchObject({ state: 'STUCK' });
  });

  test('without a reset is exempt for the policy’s duration after the first report, not after each repetition', () => {
    const heartbeats = reported(null, 40 * MIN);
    expect(vigil.at(heartbeats.slice(0, 1), MIN - 1).fires).toEqual(['rate_limited']);
    expect(vigil.at(heartbeats.slice(0, 2), MIN).fires).toEqual([]);
    expect(vigil.at(heartbeats.slice(0, 8), 7 * MIN).state).toBe('HEALTHY');
    expect(vigil.at(heartbeats.slice(0, 8), 7 * MIN + 1).state).toBe('STUCK');
  });
});

test('a heartbeat without an activity does not end a limit, with or without a reset', () => {
  const heartbeats = (retry: number | null): Heartbeats => [
    ...reported(retry, 0),
    [30 * SEC, { activity: null, turn: closed }],
  ];
  expect(vigil.at(heartbeats(20 * MIN), 20 * MIN - 1).fires).toEqual(['rate_limited']);
  expect(vigil.at(heartbeats(20 * MIN), 20 * MIN).fires).toEqual([]);
  expect(vigil.at(heartbeats(null), MIN - 1).fires).toEqual(['rate_limited']);
  expect(vigil.at(heartbeats(null), MIN).fires).toEqual([]);
});

test('a reset that is further away than a week is a mistake, such as microseconds: the limit holds for a week', () => {
  const week = 7 * 24 * 60 * MIN;
  const heartbeats: Heartbeats = [
    [0, { ...limited(60_000), rate_limit: { retry_at: (T0 + 60_000) * 1000 } } as Partial<HeartbeatPayload>],
  ];
  expect(vigil.at(heartbeats, week - 1).fires).toContain('rate_limited');
  expect(vigil.at(heartbeats, week).fires).not.toContain('rate_limited');
});

test('another limit, by another event of the client or with another reset, is another report', () => {
  const again = { ...closed, last_event_at: T0 + 2 * MIN };
  expect(vigil.at([...reported(null, 0), [2 * MIN, limited(null, { turn: again })]], 3 * MIN - 1).fires).toContain(
    'rate_limited',
  );
  expect(vigil.at([...reported(MIN, 0), [2 * MIN, limited(5 * MIN)]], 5 * MIN - 1).fires).toContain('rate_limited');
});

test('a limit without a reset, such as a line about a retry, does not shorten a reset that is known', () => {
  const error = { at: T0, count: 1, error_class: 'rate_limit', hash: null, message: null };
  const heartbeats: Heartbeats = [
    ...reported(30 * MIN, 0),
    [MIN, limited(null, { activity: 'working', errors: [error] })],
  ];
  expect(vigil.at(heartbeats, 30 * MIN - 1).fires).toContain('rate_limited');
  expect(vigil.at(heartbeats, 30 * MIN).fires).not.toContain('rate_limited');
});

describe('an agent without turns that reports a limit', () => {
  const limitedAt = (ms: number, more: Partial<HeartbeatPayload> = {}): Heartbeats[number] => [
    ms,
    { activity: 'rate_limited', ...more },
  ];
  const works: Heartbeats[number] = [90 * SEC, { activity: 'working' }];

  test.each<[string, Partial<HeartbeatPayload>]>([
    ['as its activity', {}],
    ['with an unknown reset', { rate_limit: { retry_at: null } }],
  ])('in every heartbeat, %s, is limited for the policy’s duration after the first', (_, more) => {
    const heartbeats = [0, MIN / 2, MIN, 2 * MIN].map((ms) => limitedAt(ms, more));
    expect(vigil.at(heartbeats.slice(0, 2), MIN - 1).fires).toContain('rate_limited');
    expect(vigil.at(heartbeats.slice(0, 3), MIN).fires).not.toContain('rate_limited');
    expect(vigil.at(heartbeats, 2 * MIN).fires).not.toContain('rate_limited');
  });

  test('again after another activity is limited again', () => {
    expect(vigil.at([limitedAt(0), works, limitedAt(2 * MIN)], 3 * MIN - 1).fires).toContain('rate_limited');
  });
});

describe('limits without a reset, one after the other', () => {
  const coditect = preset('coditect');
  const error = { at: T0, count: 1, error_class: 'rate_limit', hash: null, message: null };
  const begun: Heartbeats[number] = [0, { tool_calls: [call('c0')] }];
  const limits = (minutes: number, more: (minute: number) => Partial<HeartbeatPayload> = () => ({})): Heartbeats => [
    begun,
    ...Array.from({ length: minutes }, (_, i): Heartbeats[number] => [
      (i + 1) * MIN,
      { errors: [error], ...more(i + 1) },
    ]),
  ];

  // The first is in minute 1, and the limit of no_calls counts from the end of the row.
  test('excuse an agent for 15 minutes in a row, and no longer', () => {
    expect(coditect.at(limits(31), 31 * MIN).fires).not.toContain('no_calls');
    expect(coditect.at(limits(31), 31 * MIN + 1).fires).toContain('no_calls');
  });

  const checkpoint = {
    ...{ checkpoint_id: 'k', parent_id: null, uri: null, sha256: null, valid: null, invalid_reason: null },
    ...{ created_at: T0 + 14 * MIN, completed_work: [], remaining_work: [] },
  };
  test('begin a new row after progress', () => {
    const advances = (minute: number): Partial<HeartbeatPayload> => (minute === 14 ? { checkpoint } : {});
    expect(coditect.at(limits(43, advances), 44 * MIN).fires).not.toContain('no_calls');
    expect(coditect.at(limits(44, advances), 44 * MIN + 1).fires).toContain('no_calls');
  });

  test('do not shorten a reset that is named', () => {
    const named = (minute: number): Partial<HeartbeatPayload> =>
      minute === 1 ? { rate_limit: { retry_at: T0 + 60 * MIN } } : {};
    expect(coditect.at(limits(59, named), 60 * MIN).fires).not.toContain('no_calls');
  });
});

describe('a limit with a far reset is over for an agent that works again', () => {
  const HOUR = 60 * MIN;
  const limit: Heartbeats[number] = [MIN, { activity: 'working', rate_limit: { retry_at: T0 + 24 * HOUR } }];
  const begun: Heartbeats[number] = [0, { tool_calls: [call('c0')] }];
  const later = (ms: number, started: number, more: Partial<Call> = {}): Heartbeats[number] => [
    ms,
    {
      tool_calls: [call('c1', { args_hash: 'x', started_at: T0 + started, ended_at: T0 + ms, ...more })],
      activity: 'working',
    },
  ];
  const isLimited = (heartbeats: Heartbeats, ms: number) =>
    vigil.at([begun, limit, ...heartbeats], ms).fires.includes('rate_limited');

  test.each<[string, boolean, Partial<Call>]>([
    ['began at the report', true, { started_at: T0 + MIN }],
    ['began after it', false, { started_at: T0 + MIN + 1 }],
    ['began at an unknown time', true, { started_at: null }],
    ['failed', true, { outcome: 'error' }],
    ['was refused', true, { outcome: 'refused' }],
    ['has only begun', true, { outcome: 'running', ended_at: null }],
  ])('after a call that %s it still holds: %s', (_, holds, more) => {
    expect(isLimited([later(2 * MIN, 2 * MIN - 1, more)], 2 * MIN)).toBe(holds);
  });

  test('so its absences count from that call', () => {
    const calls = [begun, limit, later(2 * MIN, 2 * MIN - 1)];
    const coditect = preset('coditect');
    expect(coditect.at(calls, 17 * MIN).fires).not.toContain('no_calls');
    expect(coditect.at(calls, 17 * MIN + 1).fires).toContain('no_calls');
  });

  test('also if each heartbeat names the reset again', () => {
    const named = ([ms, more]: Heartbeats[number]): Heartbeats[number] => [ms, { ...limit[1], ...more }];
    const again = named(later(2 * MIN, 2 * MIN - 1));
    expect(isLimited([again], 2 * MIN)).toBe(false);
    expect(isLimited([again, named([3 * MIN, {}])], 3 * MIN)).toBe(false);
  });

  test('also if its activity stays that of a limited agent', () => {
    const stays: Heartbeats[number] = [2 * MIN, { ...later(2 * MIN, 2 * MIN - 1)[1], activity: 'rate_limited' }];
    const limited: Heartbeats[number] = [MIN, { ...limit[1], activity: 'rate_limited' }];
    expect(vigil.at([begun, limited, stays], 2 * MIN).fires).not.toContain('rate_limited');
  });

  test.each<[string, Partial<HeartbeatPayload>]>([
    ['its activity', { activity: 'rate_limited', rate_limit: { retry_at: T0 + 24 * HOUR } }],
    ['the same reset, after a heartbeat without', { activity: 'working', rate_limit: { retry_at: T0 + 24 * HOUR } }],
    ['another reset', { activity: 'working', rate_limit: { retry_at: T0 + 20 * HOUR } }],
  ])('and holds again with a new report: %s', (_, more) => {
    const heartbeats: Heartbeats = [later(2 * MIN, 2 * MIN - 1), [3 * MIN, more]];
    expect(isLimited(heartbeats, 3 * MIN)).toBe(true);
    expect(isLimited(heartbeats, 10 * HOUR)).toBe(true);
  });

  test('a call that ran beside the report keeps it, where the same heartbeat reports the limit again', () => {
    const again = { error_class: 'rate_limit', outcome: 'error' } as const;
    const both = later(2 * MIN, 2 * MIN - 1)[1];
    const heartbeats: Heartbeats = [
      [
        2 * MIN,
        {
          ...both,
          tool_calls: [...(both.tool_calls ?? []), call('c2', again)],
          rate_limit: { retry_at: T0 + 24 * HOUR },
        },
      ],
    ];
    expect(isLimited(heartbeats, 2 * MIN)).toBe(true);
  });

  describe('without calls, by a turn', () => {
    const turn = (open: boolean, started: number, last: number) => ({
      turn: { open, started_at: T0 + started, last_event_at: T0 + last },
    });
    const atLimit: Heartbeats = [
      [0, { token_count: 10, ...turn(true, 0, 0), activity: 'working' }],
      [MIN, { token_count: 10, ...limited(24 * HOUR, { turn: turn(false, 0, MIN).turn }) }],
    ];
    const then = (more: Partial<HeartbeatPayload>): boolean =>
      vigil
        .at(
          [
            ...atLimit,
            [2 * MIN, { token_count: 10, activity: 'working', ...turn(true, 2 * MIN, 2 * MIN) }],
            [3 * MIN, { token_count: 20, activity: 'awaiting_input', ...turn(false, 2 * MIN, 3 * MIN), ...more }],
          ],
          3 * MIN,
        )
        .fires.includes('rate_limited');

    test('that began after the report, used tokens, and has ended', () => {
      expect(then({})).toBe(false);
    });

    test.each<[string, Partial<HeartbeatPayload>]>([
      ['without use of tokens, as one that a person interrupts', { token_count: 10 }],
      ['that is open', turn(true, 2 * MIN, 3 * MIN)],
      ['that began before the report', turn(false, MIN, 3 * MIN)],
      ['that an error ended', { activity: 'blocked' }],
      ['that the limit ended', { activity: 'rate_limited', rate_limit: { retry_at: T0 + 24 * HOUR } }],
    ])('and not by one %s', (_, more) => {
      expect(then(more)).toBe(true);
    });
  });
});

test('no plan pauses a client that backs off by itself, and a client without turns is paused', () => {
  const demo = preset('demo');
  expect(demo.at([[0, limited(60 * SEC)]], SEC)).toMatchObject({ fires: ['rate_limited'], plan: null });
  expect(demo.at([[0, { ...limited(60 * SEC), turn: null }]], SEC).plan).toBe('rate_limited');
  const botbox = preset('botbox');
  expect(botbox.at([[0, limited(60 * SEC)]], SEC).plan).toBeNull();
});

describe('a text of a limit in the output of an agent', () => {
  const words = output({
    lines: 9,
    matched_patterns: [{ kind: 'rate_limit', source: '\\brate[ _-]?limit', at: T0, line: null }],
  });
  const reporting = (calls: HeartbeatPayload['tool_calls']): Heartbeats => [
    [0, { reporter: 'runtime', activity: 'working', tool_calls: calls, ...words }],
  ];
  const ok = call('c1', { tool: 'Bash', args_hash: 'g', result_hash: 'r' });

  test.each([
    ['no call', true, []],
    ['a call that has begun', true, [call('c1', { outcome: 'running' })]],
    ['a call that failed', true, [call('c1', { outcome: 'error', error_class: 'exit_1' })]],
    ['a call that succeeded', false, [ok]],
    ['a call that succeeded at the time of the text', false, [{ ...ok, ended_at: T0 }]],
    ['a call that succeeded before the text', true, [{ ...ok, ended_at: T0 - 1 }]],
    ['a call that succeeded at an unknown time', false, [{ ...ok, ended_at: null }]],
  ] as const)('beside %s, are a limit: %s', (_, isLimit, calls) => {
    expect(vigil.at(reporting([...calls]), 1).fires.includes('rate_limited')).toBe(isLimit);
  });

  test('do not hide that it repeats the call whose result has them', () => {
    const repeats: Heartbeats = Array.from({ length: 5 }, (_, i): Heartbeats[number] => [
      i * 20 * SEC,
      { ...reporting([{ ...ok, call_id: `c${i}` }])[0]?.[1] },
    ]);
    expect(vigil.at(repeats, 80 * SEC).state).toBe('STUCK');
  });
});
