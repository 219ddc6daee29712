import { adapters } from '@vigil/adapters';
import { recordedRuns, recordedStreams } from '@vigil/adapters/recordings';
import { presetsWith } from '@vigil/health/fixture';
import { expect, test } from 'vitest';
import { type Replayed, replayed, replayedStream } from './replay.ts';

/** Milliseconds between two heartbeats when nothing happens. */
const INTERVALS = { vigil: 30_000, demo: 5_000 } as const;
type Policy = keyof typeof INTERVALS;

const clientOf = (run: string): string => {
  const recorded = adapters.find(({ name }) => recordedRuns(name).has(run) || recordedStreams(name).has(run));
  if (recorded === undefined) throw new Error(`no client has a recorded run ${run}`);
  return recorded.name;
};

const under = (policy: Policy, run: string): Replayed =>
  replayed(clientOf(run), run, presetsWith(policy), INTERVALS[policy]);

/** The client's output, without a hook. */
const printedUnder = (policy: Policy, run: string): Replayed =>
  replayedStream(clientOf(run), run, presetsWith(policy), INTERVALS[policy]);

/** The unhealthy states of one agent: the session's own, or a sub-agent. */
const flagged = ({ judged }: Replayed, agent = 'a1') =>
  judged.filter((one) => one.agent === agent && one.to !== 'HEALTHY');

const BOTH = ['vigil', 'demo'] as const;

const WORKS = [
  ['a session that works', 'cc-works'],
  ['one that works, of Codex', 'cx-bare'],
  ['one that works, of Gemini CLI', 'gm-bare'],
  ['calls that permissions refused, and ordinary work', 'cc-denied'],
  ['one call that permissions refused, and 21 that ended well', 'cc-denied2'],
  ['the same for longer', 'cc-denied3'],
  ['a command of 200 s, which is moved to the background', 'cc-bash200'],
  ['a sub-agent that works in the background', 'cc-sub'],
  ['a session that is compacted', 'cc-tui-compact'],
  ['a question of an MCP server, without a person to answer', 'cc-elicits'],
  ['a call that auto mode refused', 'cc-auto-denied'],
  ['one that is compacted, of Codex', 'cx-compact'],
  ['a sub-agent that works, of Codex', 'cx-subagent'],
] as const;

const WAITS = [
  ['a session at its prompt', 'cc-tui-idle', 'awaiting_input'],
  ['a permission prompt', 'cc-tui-perm2', 'awaiting_input'],
  ['another permission prompt', 'cc-tui-nohook', 'awaiting_input'],
  ['the dialog of auto mode', 'cc-tui-perm', 'awaiting_input'],
  ['a question', 'cc-tui-ask', 'awaiting_input'],
  ['an approval prompt of Codex', 'cx-tui-perm2', 'awaiting_input'],
  ['a permission prompt of Gemini CLI', 'gm-tui-perm', 'awaiting_input'],
] as const;

test.each(BOTH.flatMap((policy) => WORKS.map(([what, run]) => ({ policy, what, run }))))(
  'under $policy $what is never judged unhealthy ($run)',
  ({ policy, run }) => {
    const replay = under(policy, run);
    expect(replay.judged).toEqual([]);
    expect(replay.activities).toContain('working');
  },
);

test.each(BOTH.flatMap((policy) => WAITS.map(([what, run, activity]) => ({ policy, what, run, activity }))))(
  'under $policy $what waits for its person, and is never judged unhealthy ($run)',
  ({ policy, run, activity }) => {
    const replay = under(policy, run);
    expect(replay.judged).toEqual([]);
    expect(replay.activities).toContain(activity);
  },
);

test.each(['cc-loop', 'cc-loopthink', 'cx-loop'])('the fifth identical call is judged when it ends (%s)', (run) => {
  for (const policy of BOTH) {
    const replay = under(policy, run);
    const stuck = replay.judged.find(({ to }) => to === 'STUCK');
    expect(stuck?.at).toBe(replay.callEnds[4]);
  }
});

test.each(['cc-loops', 'cx-loops'])('the same is judged from the stream alone, without a hook (%s)', (run) => {
  for (const policy of BOTH) {
    const replay = printedUnder(policy, run);
    const stuck = replay.judged.find(({ to }) => to === 'STUCK');
    expect(stuck?.at).toBe(replay.callEnds[4]);
  }
});

test.each(['cc-works', 'cx-works', 'gm-works', 'cc-sub'])(
  'a session that works is never judged unhealthy for the text of its stream (%s)',
  (run) => {
    for (const policy of BOTH) {
      const replay = printedUnder(policy, run);
      expect(replay.judged).toEqual([]);
      expect(replay.activities).toContain('working');
    }
  },
);

test.each([
  ['demo', 'cc-hang-d', 8],
  ['demo', 'cc-rt', 8],
  ['demo', 'cc-rt2', 8],
  ['demo', 'cc-tui-hang2', 8],
  ['vigil', 'cc-hang-v', 360],
] as const)(
  'under %s a model that does not answer is stuck after its time, and stays so (%s)',
  (policy, run, seconds) => {
    const [stuck, ...others] = flagged(under(policy, run));
    expect(stuck?.to).toBe('STUCK');
    expect(others).toEqual([]);
    // After the last event of the turn: the end of the batch of its only call.
    const [end = 0] = under(policy, run).callEnds;
    expect(stuck?.at).toBeGreaterThan(end + seconds);
    expect(stuck?.at).toBeLessThan(end + seconds + 1);
  },
);

test.each(['cc-tui-wedged', 'cc-wedged'])(
  'an error that does not pass is blocked at once, and stays so (%s)',
  (run) => {
    for (const policy of BOTH) {
      const replay = under(policy, run);
      expect(replay.activities).toContain('blocked');
      expect(flagged(replay).map(({ to }) => to)).toEqual(['STUCK']);
      expect(replay.activities.slice(replay.activities.indexOf('blocked'))).toEqual(['blocked', 'exiting']);
    }
  },
);

test('a hung sub-agent is found, and its parent is not idle in the meantime', () => {
  const replay = under('demo', 'cc-subhang');
  const subagents = replay.judged.filter(({ agent }) => agent !== 'a1');
  expect(subagents[0]).toMatchObject({ to: 'STUCK' });
  expect(subagents[0]?.at).toBeLessThan(20);
  expect(replay.activities.slice(0, 2)).toEqual(['starting', 'working']);
});

test('a call that a person interrupted by Esc is not overdue, because its limit was a default, which is an estimate', () => {
  expect(under('vigil', 'cc-tui-esc').judged).toEqual([]);
});

test('calls of Gemini CLI are reported with their exit codes', () => {
  const replay = under('vigil', 'gm-loop');
  expect(replay.callEnds).toHaveLength(4);
  expect(flagged(replay).map(({ to }) => to)).toEqual(['DEGRADED']);
});
