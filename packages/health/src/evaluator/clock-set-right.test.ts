import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';

const MIN = 60_000;

const saved = (id: string, createdAt: number): Partial<HeartbeatPayload> => ({
  checkpoint: {
    ...{ checkpoint_id: id, parent_id: null, uri: null, sha256: null, created_at: createdAt },
    ...{ valid: null, invalid_reason: null, completed_work: [], remaining_work: [] },
  },
});

/** The states under coditect that an agent goes through with a heartbeat each minute, and the names of its findings. Null: it is silent. */
const story = (minutes: number, more: (minute: number) => Partial<HeartbeatPayload> | null) => {
  const agent = given(agentHealth(presetsWith('coditect')), T0);
  for (let minute = 0; minute <= minutes; minute++) {
    agent.passTo(T0 + minute * MIN);
    const fields = more(minute);
    if (fields !== null) agent.receive(heartbeat(minute * MIN, fields), T0 + minute * MIN);
  }
  return agent
    .all()
    .flatMap((one) =>
      one.type === 'HEALTH_STATE_CHANGED'
        ? [`${one.payload.to} ${one.payload.evidence.map(({ signal }) => signal)}`]
        : [],
    );
};
/** A new call and some tokens in each minute, by a clock that is `ahead`. */
const works = (minute: number, ahead = 0): Partial<HeartbeatPayload> => {
  const time = T0 + minute * MIN + ahead;
  return { timestamp: time, last_tool_call: time, token_count: 100 + minute };
};
const STALE = ['DEGRADED stale_checkpoint', 'STUCK no_checkpoint,stale_checkpoint'];

describe('checkpoints are compared on the time of the broker', () => {
  test.each([2 * 60 * MIN, 24 * 60 * MIN])('one whose time is %d ms ahead does not hide those after it', (ahead) => {
    const once = (minute: number) => {
      const time = T0 + minute * MIN + (minute === 1 ? ahead : 0);
      return { ...works(minute), ...(minute % 5 === 1 ? saved(`k${minute}`, time) : {}) };
    };
    expect(story(70, once)).toEqual([]);
  });

  test.each([3, 40, 600])('those after a clock was set back by %d min are new', (minutes) => {
    const setBack = (minute: number) => {
      const ahead = minute < 5 ? minutes * MIN : 0;
      const time = T0 + minute * MIN + ahead;
      return { ...works(minute, ahead), ...(minute % 5 === 1 ? saved(`k${minute}`, time) : {}) };
    };
    expect(story(70, setBack)).toEqual([]);
  });

  test('so is one that is updated in place, under the same id', () => {
    const setBack = (minute: number) => {
      const ahead = minute < 5 ? 40 * MIN : 0;
      const time = T0 + minute * MIN + ahead;
      return { ...works(minute, ahead), ...(minute % 5 === 1 ? saved('k', time) : {}) };
    };
    expect(story(70, setBack)).toEqual([]);
  });

  test('a checkpoint whose time is always ahead, as local time is, is new each time', () => {
    const local = (minute: number) => ({
      ...works(minute),
      ...(minute % 5 === 1 ? saved(`k${minute}`, T0 + minute * MIN + 120 * MIN) : {}),
    });
    expect(story(70, local)).toEqual([]);
  });

  test('the same one, 2 h ahead, is new only once, also when its time comes', () => {
    expect(story(150, (minute) => ({ ...works(minute), ...saved('k1', T0 + 121 * MIN) }))).toEqual(STALE);
  });

  test.each([
    ['of the clock before', saved('a', T0 + 39 * MIN), saved('b', T0 + 40 * MIN)],
    ['2 h ahead, and one that is not', saved('a', T0 - MIN), saved('b', T0 + 120 * MIN)],
  ])('two old ones, %s, that come back in turn are not', (_, a, b) => {
    const inTurn = (minute: number) => {
      const ahead = minute < 2 ? 40 * MIN : 0;
      const one = minute === 0 ? a : minute === 1 || minute % 2 === 1 ? b : a;
      return { ...works(minute, ahead), ...one };
    };
    expect(story(45, inTurn)).toEqual(STALE);
  });

  test('nor are they after another that is new', () => {
    const returning = (minute: number) => {
      const ahead = minute < 2 ? 40 * MIN : 0;
      const old = saved('b', T0 + 40 * MIN);
      return { ...works(minute, ahead), ...(minute === 3 ? saved('c', T0 + 3 * MIN) : old) };
    };
    expect(story(50, returning)).toEqual(STALE);
  });

  test('a heartbeat that comes late makes no old checkpoint new', () => {
    const late = (minute: number) => ({
      ...works(minute, minute % 2 === 0 ? -10 * MIN : 0),
      ...saved(minute % 2 === 0 ? 'a' : 'b', T0 - (minute % 2 === 0 ? MIN : 0)),
    });
    expect(story(45, late)).toEqual(expect.arrayContaining(STALE));
  });
});

describe('a clock that is set back by an hour while the agent is silent', () => {
  /** Silent from minute 5 to 65. Its last checkpoint before is of minute 1, at 61 by the clock before. */
  const silently = (later: (minute: number) => Partial<HeartbeatPayload>) => (minute: number) => {
    if (minute < 5) return { ...works(minute, 60 * MIN), ...saved('k', T0 + 61 * MIN) };
    return minute < 65 ? null : { ...works(minute), ...later(minute) };
  };
  const last = (states: readonly string[]) => states.at(-1);

  test.each(['k', 'another'])('hides no checkpoint of the silence (%s)', (id) => {
    expect(
      last(
        story(
          69,
          silently(() => saved(id, T0 + 60 * MIN)),
        ),
      ),
    ).toBe('HEALTHY ');
  });

  test('makes an old one not new: the last one before, one of the hours before, and one from before the silence', () => {
    for (const one of [saved('k', T0 + 61 * MIN), saved('j', T0 - 60 * MIN), saved('j', T0 + 3 * MIN)])
      expect(
        last(
          story(
            69,
            silently(() => one),
          ),
        ),
      ).toContain('STUCK');
  });

  test('does not make two checkpoints of the clock before new that come back in turn', () => {
    const inTurn = silently((minute) => saved(minute % 2 === 0 ? 'k' : 'j', T0 + (minute % 2 === 0 ? 61 : 2) * MIN));
    expect(last(story(75, inTurn))).toContain('STUCK');
  });
});

describe('a clock that goes back does not make an agent STUCK', () => {
  const saves = (minute: number, time: number) => saved(`k${minute}`, time);

  test.each([10, 60, 600])('by no_calls, set back by %d min', (minutes) => {
    const setBack = (minute: number) => {
      const ahead = minute < 5 ? minutes * MIN : 0;
      return { ...works(minute, ahead), ...saves(minute, T0 + minute * MIN + ahead) };
    };
    expect(story(70, setBack)).toEqual([]);
  });

  test('nor does one call whose time was 2 h ahead', () => {
    const once = (minute: number) => ({
      ...works(minute),
      ...(minute === 1 ? { last_tool_call: T0 + 121 * MIN } : {}),
      ...saves(minute, T0 + minute * MIN),
    });
    expect(story(70, once)).toEqual([]);
  });

  test.each([
    ['before the clock was set back', T0 + 64 * MIN],
    ['long ago by the new clock', T0 + 2 * MIN],
  ])('but an agent whose last call came %s is', (_, last) => {
    const silent = (minute: number) => {
      const ahead = minute < 5 ? 60 * MIN : 0;
      const time = T0 + minute * MIN + ahead;
      const sent = minute < 5 ? time : last;
      return { ...works(minute, ahead), last_tool_call: sent, ...saves(minute, time) };
    };
    expect(story(30, silent)).toEqual(['STUCK no_calls']);
  });
});

describe('errors that an agent counts itself, of calls that it reports as running and as finished', () => {
  /** A third of the calls of a running agent fail; each is reported twice, with its start as `last_tool_call`. */
  const reported = (of: readonly ('running' | 'ok')[], every: number) => {
    const agent = given(agentHealth(presetsWith('coditect')), T0);
    agent.receive(heartbeat(0, { last_tool_call: T0, token_count: 1 }), T0);
    let errors = 0;
    for (let i = 0; i < 20; i++) {
      const start = (1 + 2 * i) * 1000;
      for (const outcome of of) {
        if (outcome === 'ok' && i % every === 0) errors++;
        const ms = start + (outcome === 'ok' ? 1000 : 0);
        const args = { args_hash: `a${i}`, result_hash: outcome === 'ok' ? `r${i}` : null };
        const tool_calls = [call(`c${i}`, { ...args, outcome, started_at: T0 + start })];
        const more = { last_tool_call: T0 + start, token_count: 10 + i, error_count: errors, tool_calls };
        agent.receive(heartbeat(ms, more), T0 + ms);
      }
    }
    return agent.all().flatMap((one) => (one.type === 'HEALTH_STATE_CHANGED' ? [one.payload.to] : []));
  };

  test('are a share of the calls, each counted once', () => {
    expect(reported(['ok'], 3)).toContain('DEGRADED');
    expect(reported(['running', 'ok'], 3)).toEqual(reported(['ok'], 3));
  });

  test('are not too many below a quarter', () => {
    const late = reported(['ok'], 5);
    expect(reported(['running', 'ok'], 5)).toEqual(late);
  });
});
