import type { MatchedPattern } from '@vigil/events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defaultPatterns } from '../output/patterns.ts';
import { liveOn, nudge, type Stage, scriptSpec, setStage } from '../testing/stage.ts';
import type { Supervised } from './agent-instance.ts';
import type { AgentSpec } from './agent-spec.ts';

let stage: Stage;
const instances: Supervised[] = [];

beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  for (const instance of instances.splice(0)) await instance.end('the test is over', 0).then(() => instance.settled);
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const start = async (script: string, more: Partial<AgentSpec> = {}): Promise<Supervised> => {
  const instance = await liveOn(stage, scriptSpec(script, more), 80, () => {});
  instances.push(instance);
  return instance;
};
const judgedBy = (document: object) => {
  stage.gateway.policies.set('p', document);
  stage.gateway.assigned = { name: 'p', hash: 'h' };
};
const outputs = () => stage.gateway.heartbeats.flatMap(({ output }) => output ?? []);
const matched = (): MatchedPattern[] => outputs().flatMap(({ matched_patterns }) => [...matched_patterns]);
const sources = () => matched().map(({ kind, source }) => `${kind} ${source}`);
/** the agent continues only now */
const answer = (instance: Supervised) => instance.terminal.write('\r');

test('an agent’s output is looked through for the patterns of its policy, in the policy’s spelling', async () => {
  judgedBy({
    signals: {
      error_pattern: { patterns: ['Boo+m', 'Silent'] },
      x: { is: 'unrecoverable_error', patterns: ['disk full'] },
    },
  });
  await start('echo "Booom at once"; sleep 600');
  await until(() => expect(sources()).toContain('error Boo+m'));
  expect(outputs().at(-1)?.tail).toContain('Booom at once');
  expect(sources().filter((one) => one !== 'error Boo+m')).toEqual([]);
});

test('heartbeats follow an interval that answers shorten and lengthen again', async () => {
  const { gateway } = stage;
  const intervals = () => gateway.heartbeats.map(({ interval_ms }) => interval_ms);
  gateway.intervalMs = 200;
  const instance = await start('sleep 600', { intervalMs: null });
  await until(() => expect(intervals().filter((ms) => ms === 200).length).toBeGreaterThan(3));
  gateway.intervalMs = 3_600_000;
  const before = gateway.heartbeats.length;
  await until(() => expect(gateway.heartbeats.length).toBeGreaterThan(before));
  await instance.end('the test is over', 0).then(() => instance.settled);
  expect(intervals().at(-1)).toBe(3_600_000);
  // One may have been under way when the answer changed.
  expect(
    intervals()
      .slice(before)
      .filter((ms) => ms === 200).length,
  ).toBeLessThan(3);
});

test('after a policy has arrived, its patterns replace the built-in ones', async () => {
  judgedBy({
    signals: { rate_limited: { patterns: ['slow down'] }, x: { is: 'unrecoverable_error', patterns: ['disk full'] } },
  });
  const instance = await start('echo ready; read go; echo "rate limit, disk full: Slow Down"; sleep 600');
  await until(() => expect(outputs().at(-1)?.tail).toContain('ready'));
  answer(instance);
  await until(() => expect(sources()).toEqual(['rate_limit slow down', 'fatal disk full']));
});

test('a result and the policy’s completion signal are reported with their times', async () => {
  judgedBy({ signals: { done: { is: 'no_completion', after: '1m', signal: 'ALL DONE' } }, ticket: {} });
  const instance = await start('echo "<result>"; read go; echo "all done"; sleep 600', {
    patterns: { ...defaultPatterns, result: ['<result>'] },
  });
  await until(() => expect(outputs().at(-1)).toMatchObject({ tail: ['<result>'], completion_signal_at: null }));
  const resultAt = outputs().at(-1)?.result_at ?? 0;
  expect(resultAt).toBeGreaterThan(0);
  answer(instance);
  await until(() => expect(outputs().at(-1)?.completion_signal_at).toBeGreaterThanOrEqual(resultAt));
  expect(sources()).toEqual(['completion ALL DONE']);
});

test("Vigil's own text never matches in the agent's output, even where its program draws it again", async () => {
  judgedBy({ signals: { error_pattern: { patterns: ['wedged'] } } });
  await start('echo ready; read text; echo "| $text |"; echo "> $text <"; echo shown; sleep 600');
  stage.gateway.offer(nudge({ message: 'are you wedged? print error or what' }));
  await until(() => expect(outputs().at(-1)?.tail).toContain('shown'));
  expect(matched()).toEqual([]);
  expect(
    outputs()
      .flatMap(({ tail }) => [...tail])
      .join(),
  ).not.toContain('wedged');
  expect(outputs().at(-1)?.repeated_error).toBeNull();
});

test('without its policy an agent is watched as before, and no lines of it are sent', async () => {
  stage.gateway.assigned = { name: 'missing', hash: 'h' };
  await start('echo "HTTP 429"; sleep 600');
  await until(() => expect(matched()).toMatchObject([{ kind: 'rate_limit' }]));
  expect(outputs().flatMap(({ tail }) => [...tail])).toEqual([]);
});
