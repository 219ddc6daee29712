import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomFrom } from '../support/faults.ts';
import { standStill } from '../support/settled.ts';
import { openSystem, ownServers, soak, type TestSystem } from '../support/system.ts';
import { type Chronicle, readEvents } from './chronicle.ts';
import { type Ground, openGround, policies, seed, withEvents } from './ground.ts';
import { rules } from './judge.ts';
import { allLooping, BUDGET, LOOPING } from './stories/all-looping.ts';
import { brokerStopped } from './stories/broker-stopped.ts';
import { evaluatorFrozen } from './stories/evaluator-frozen.ts';
import { hostCutOff } from './stories/host-cut-off.ts';
import { hostLost } from './stories/host-lost.ts';
import { producersCut } from './stories/producers-cut.ts';

const env = {
  ...policies,
  VIGIL_GOVERNOR_STEPS_PER_MINUTE: String(BUDGET),
  VIGIL_GOVERNOR_SPAWNS_PER_HOUR: '1000',
  // More agents than hang in any of the stories in which the brake must stay off.
  VIGIL_GOVERNOR_BRAKE_LEAST: '5',
  // An agent can count as lost from its first heartbeat on, so the stories begin at once.
  VIGIL_GOVERNOR_BRAKE_MIN_AGE_S: '0',
  VIGIL_GOVERNOR_BRAKE_BACK_S: soak('10', '60'),
};
const TEST_MS = soak(600_000, 3_000_000);

describe.skipIf(!ownServers)('what a fleet and its watchers may meet', () => {
  let on: TestSystem;
  let ground: Ground;
  let chronicle: Chronicle;
  let looping: Promise<unknown> | null = null;
  let hostIsLost: Promise<unknown> | null = null;
  /** The error with which it fails; null: it has not failed. */
  const outcomeOf = (story: Promise<unknown>): Promise<unknown> =>
    story.then(
      () => null,
      (error: unknown) => error,
    );

  beforeAll(async () => {
    on = await openSystem({ name: 'chaos-stories', policy: 'chaos', env });
    ground = await openGround(on, randomFrom(seed));
    if (soak(false, true)) return;
    // Both at once: to end the looping agents within the budget takes a minute. In the long form it takes forty, and
    // its other stories need that budget.
    looping = outcomeOf(allLooping(ground));
    hostIsLost = outcomeOf(withEvents(ground, (on) => hostLost(on, looping ?? Promise.resolve())));
  });
  afterAll(async () => {
    console.log(JSON.stringify({ seed, agents: ground.planned.length, instances: ground.diary.length }));
    ground?.received.stop();
    await on?.stop();
  });

  // The suites of crashes and of time kill and freeze the broker in each run.
  test.runIf(soak(false, true))(
    'the broker stopped: agents that hang in the meantime are found, work in progress continues, no other is touched',
    () => withEvents(ground, brokerStopped),
    TEST_MS,
  );

  // The suite of time freezes the evaluator, too, and finds the hangs, in each run.
  test.runIf(soak(false, true))(
    'the evaluator frozen: it decides nothing in the meantime, and agents that hung are found and replaced afterwards',
    () => withEvents(ground, evaluatorFrozen),
    TEST_MS,
  );

  test(
    `${LOOPING} agents truly looping: ended within the budget, first come first served, each of them`,
    async () => {
      const error = await (looping ?? outcomeOf(allLooping(ground)));
      if (error) throw error;
    },
    TEST_MS,
  );

  // The scenarios engage the brake, and lift it, in each run.
  test.runIf(soak(false, true))(
    'all producers cut: one incident, no agent is ended, and all is well when their reports arrive again',
    () => withEvents(ground, producersCut),
    TEST_MS,
  );

  // "a host lost" has the return of a host in each run.
  test.runIf(soak(false, true))(
    'a host cut off and taken for gone: its agents worked on, and make way for their replacements when it is back',
    () => withEvents(ground, hostCutOff),
    TEST_MS,
  );

  // It is the last story, because its runtimes are stopped with it, and many ends at once engage the brake.
  test(
    'a host lost: nothing is spawned before a person reports it, then elsewhere, and its return doubles no agent',
    async () => {
      const error = await (hostIsLost ?? outcomeOf(withEvents(ground, (on) => hostLost(on, Promise.resolve()))));
      if (error) throw error;
    },
    TEST_MS,
  );

  describe('over the whole run', () => {
    beforeAll(async () => {
      await standStill(on);
      chronicle = { planned: ground.planned, diary: ground.diary, events: await readEvents(on) };
    }, TEST_MS);

    test.each(Object.keys(rules))('%s', (rule) => {
      expect(rules[rule]?.(chronicle)).toEqual([]);
    });
  });
});
