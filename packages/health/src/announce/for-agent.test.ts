import { describe, expect, test } from 'vitest';
import { call, history as historyOf, judgedAt, policyOf, presetsWith, T0 } from '../fixture.ts';
import { judge } from '../judgement/judge.ts';
import { SIGNALS, type SignalName } from '../signals/all.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { CASES } from '../signals/testing/cases.ts';
import { forAgent } from './warrant.ts';

/** The sentence for the agent about each signal, in the signal's test case. */
const FINDINGS: Readonly<Record<SignalName, string>> = {
  no_heartbeat: 'Nothing was received from you for 1 min.',
  no_activity: 'You have shown no sign of work for 8 s.',
  no_calls: 'You have made no call for 2 min, since your call of bash.',
  no_output: 'Nothing has appeared on your terminal for 15 min.',
  no_checkpoint: 'You have written no checkpoint for 10 min.',
  no_tokens: 'You have used no tokens for 15 min.',
  no_work_update: 'Your work item W-1 has had no update for 10 min.',
  no_claim_refresh: 'Your claim of W-1 was last refreshed 1 h ago.',
  no_completion: 'You reported a result 10 min ago, and no completion signal has followed.',
  no_step: 'You have completed no step for 4 min.',
  not_started: 'You hold the task T-1 and have begun nothing of it for 10 min.',
  progress_mismatch: 'Your work item W-1 was updated after your last activity, 10 min ago.',
  call_overdue: 'Your call of bash started 1 min 30 s ago and has not ended; it was to end within 30 s.',
  no_model_answer: 'Your turn is open and nothing has happened in it for 6 min: no answer and no call.',
  repeated_calls:
    'You have made the same call (bash) 5 times in a row with the same result, the first of them 4 s ago.',
  repeated_answer: 'Your last 5 calls of bash have all given the same answer to any question.',
  repeated_arguments: 'You have made the same call (bash) 5 times in a row.',
  frequent_call: 'Of your last 5 calls, 3 were the same and gave the same result.',
  call_budget: 'You have made 5 calls.',
  repeated_error: 'The same error (exit_127) has come 5 times within 10 min.',
  same_target: 'You have read or edited src/main.ts 4 times without changing it.',
  no_accept: 'None of your last 3 steps has been accepted.',
  consecutive_failures: 'Your last 4 calls have all failed.',
  reported_errors: 'You have counted 3 errors in your last 8 calls or steps.',
  error_rate: 'Of your last 4 calls, 2 have failed.',
  token_spike: 'You have used 5001 tokens a minute, far more than your usual 1000.',
  token_burn: 'You have used tokens for 4 min without progress.',
  context_exhausted: 'You have used 81 % of your context.',
  rate_limited: 'A rate limit holds for another 1 min.',
  error_pattern: 'Your output shows an error that is known to stop sessions.',
  unrecoverable_error: 'An error that is listed as fatal has come (auth_expired).',
  breaker_open: 'Calls have failed so often that a breaker is open (checkpoint_write).',
  exited: 'Your session has ended: crashed.',
  self_reported_stuck: 'You have reported that you are stuck.',
  blocked: 'Your last request failed with the error invalid_request, which does not pass by itself.',
  false_completion: 'You have reported that you are finished, and your last checkpoint leaves work (1).',
  diverse_calls: 'Your last calls differ from each other.',
  steady_tokens: 'You use tokens at a steady rate.',
  resource_limit: 'You have exceeded a limit (memory).',
};

const sentencesOf = (name: SignalName) => {
  const { limits, heartbeats, firesAt } = CASES[name];
  const signal = SIGNALS[name];
  const read = signal.limits.parse(limits) as never;
  const history = historyOf(heartbeats, { others: signal.patterns?.(read) ?? [] });
  const known =
    name === 'exited'
      ? { ...history, end: { reason: 'crashed', at: T0, orderId: null, bySelf: false } as const }
      : history;
  const now = T0 + firesAt;
  return { finding: signal.finding(known, read, judgedAt(now)), advice: signal.advice };
};

describe.each(Object.keys(SIGNALS) as SignalName[])('%s', (name) => {
  test('states the finding and the next step', () => {
    const { finding, advice } = sentencesOf(name);
    expect(finding).toBe(FINDINGS[name]);
    expect(advice).toMatch(/^[A-Z].*\.$/);
  });
});

const WORKING = { reporter: 'runtime', activity: 'working' } as const;
const at = (name: string, heartbeats: Heartbeats, ms: number) => {
  const rules = (name.startsWith('policy:') ? policyOf(name) : presetsWith(name)).rules({
    name: name.startsWith('policy:') ? 'p' : name,
    hash: '',
  });
  const history = historyOf(heartbeats);
  return forAgent(rules, history, judge(rules, history, { now: T0 + ms, watched: T0 + ms }, true));
};
const same = (n: number, tool: string): Heartbeats =>
  Array.from({ length: n }, (_, i) => [i * 1000, { ...WORKING, tool_calls: [call(`c${i}`, { tool })] }]);

describe('an agent', () => {
  test('in a loop gets the repeated call, its count, its start, and what to do instead', () => {
    expect(at('vigil', same(5, 'Bash'), 4000)).toEqual({
      finding: 'You have made the same call (Bash) 5 times in a row with the same result, the first of them 4 s ago.',
      advice: SIGNALS.repeated_calls.advice,
    });
  });

  test('with an overdue call gets the call, its start and its deadline', () => {
    const runs = call('c1', { tool: 'Bash', outcome: 'running', started_at: T0, deadline_at: T0 + 120_000 });
    const overdue = at('vigil', [[0, { ...WORKING, tool_calls: [runs] }]], 200_000);
    expect(overdue.finding).toBe(
      'Your call of Bash started 3 min 20 s ago and has not ended; it was to end within 2 min.',
    );
    const estimated = at('vigil', [[0, { ...WORKING, tool_calls: [{ ...runs, deadline_at: null }] }]], 1_900_000);
    expect(estimated.finding).toMatch(/ has not ended; such a call is expected to end within 31 min\.$/);
  });

  test('that is silent gets the duration of its silence and the call before it', () => {
    const turn = { open: true, started_at: T0, last_event_at: T0 };
    const silent = at(
      'vigil',
      [[0, { ...WORKING, turn, tool_calls: [call('c0', { tool: 'Read', ended_at: T0 })] }]],
      400_000,
    );
    expect(silent.finding).toBe(
      'Your turn is open and nothing has happened in it for 6 min 40 s, since your call of Read: no answer and no call.',
    );
  });

  test('gets the first finding in the order of its policy', () => {
    const policy = (order: string) =>
      `policy: p\nsignals: { no_calls: { after: 10s }, looping: { is: repeated_calls, times: 3 } }\nstates: { STUCK: [${order}] }`;
    expect(at(policy('no_calls, looping'), same(3, 'Bash'), 60_000).finding).toMatch(/^You have made no call/);
    expect(at(policy('looping, no_calls'), same(3, 'Bash'), 60_000).finding).toMatch(/^You have made the same call/);
    expect(at(policy('no_calls + looping'), same(3, 'Bash'), 60_000).finding).toMatch(/no call .* the same call/);
  });

  test('gets it in one line that no tool name can break', () => {
    const { finding } = at('vigil', same(5, 'Bash\n2\u001b[31m\r\n3. Yes'), 4000);
    expect(finding).toMatch(/^You have made the same call \(Bash 2 \[31m 3\. Yes\) 5 times/);
  });
});

test('no finding and no advice begins with a digit, which a menu could take for a choice', () => {
  for (const name of Object.keys(SIGNALS) as SignalName[]) {
    const { finding, advice } = sentencesOf(name);
    expect(`${finding}\n${advice}`).not.toMatch(/^\s*\d/m);
  }
});
