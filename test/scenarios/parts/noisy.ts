import { setTimeout as sleep } from 'node:timers/promises';
import {
  attempt,
  call,
  forEver,
  leaveOnRequest,
  onMessage,
  print,
  received,
  type Scripts,
  save,
  saveMore,
  send,
  untilGo,
  work,
  workAndSave,
  workOn,
  workThenStop,
} from '../craft.ts';

const err = async (times = Number.POSITIVE_INFINITY): Promise<void> => {
  for (let more = 0; more < times; more += 1) {
    print('Error: Cannot find module ./parser');
    await sleep(500);
  }
};
const failEachCall = async (): Promise<void> => {
  for (;;) {
    print('that did not work');
    call({ outcome: 'error', error_class: 'tool_error' });
    await sleep(500);
  }
};
const refused = async (): Promise<void> => {
  send({ work: { id: 'wisp-1', updated_at: Date.now() } });
  work();
  for (;;) {
    print('API Error: 400 tool_use ids were found without tool_result blocks');
    await sleep(1000);
  }
};
const refusedThenWaits = (kind: 'prompt' | 'permission'): Promise<void> => {
  send({ work: { id: 'wisp-1', updated_at: Date.now() } });
  work();
  print('API Error: 400 tool_use ids were found without tool_result blocks');
  send({ activity: 'awaiting_input', waiting_for: { kind, text: null, since: Date.now() } });
  return forEver();
};

/** Agents that keep reporting without progress. */
export const noisy: Scripts = {
  errs: () => {
    work();
    leaveOnRequest();
    return err();
  },
  errsThenFallsSilent: async () => {
    work();
    await err(8);
    return forEver();
  },
  /** reports unknown values; its replacement reports known ones */
  reportsUnknownValues: () => {
    if (attempt > 0) return workOn();
    send({ activity: 'meditating', mood: 'serene', tool_calls: [{ call_id: 'x', tool: 'Bash', outcome: 'perhaps' }] });
    work();
    return forEver();
  },
  limited: async () => {
    await workOn(3);
    print('HTTP 429 Too Many Requests: rate limit reached');
    await received((message) => message.nudge !== undefined);
    return workOn();
  },
  /** gets the same refusal each time it continues */
  limitedForLong: async () => {
    const limit = () => print('HTTP 429 Too Many Requests: rate limit reached');
    leaveOnRequest();
    await workOn(3);
    onMessage(({ nudge }) => void (nudge !== undefined && limit()));
    limit();
    return forEver();
  },
  limitedOnce: async () => {
    if (attempt > 0) return workOn();
    leaveOnRequest();
    await workThenStop();
    print('HTTP 429 Too Many Requests: rate limit reached');
    return forEver();
  },
  /** alive, and every request is refused: its work item stands still. Its terminal shows each question */
  wedged: () => {
    onMessage(({ message }) => print(message ?? ''));
    return refused();
  },
  wedgedButAnswers: () => {
    void received((message) => message.probe !== undefined).then(({ probe }) =>
      send({ probe_reply: `ALIVE ${probe}` }),
    );
    return refused();
  },
  /** its requests were refused, and it is back at its prompt */
  wedgedAtItsPrompt: () => refusedThenWaits('prompt'),
  /** the same, and it waits for a permission */
  wedgedAtAPermission: () => refusedThenWaits('permission'),
  /** reports nothing, and continues its work on request */
  wedgedButMoves: () => {
    void received((message) => message.probe !== undefined).then(() =>
      send({ work: { id: 'wisp-1', updated_at: Date.now() } }),
    );
    return refused();
  },
  /**
   * Thirty steps that its judge does not accept, then all are accepted. A heartbeat must carry fewer than five of them,
   * the distance of two severities, on a busy machine too.
   */
  turnsInCircles: async () => {
    for (let total_steps = 1; ; total_steps += 1) {
      print('$ npm test');
      send({ steps: { total_steps, verdicts: [total_steps <= 30 ? 'RETRY' : 'ACCEPT'] } });
      call({ args_hash: 'npm test', result_hash: 'red', outcome: 'error' });
      await sleep(1000);
    }
  },
  /** no step is accepted and its tests fail again and again, and between them it changes one file after another */
  failsButProgresses: async () => {
    for (let total_steps = 1; ; total_steps += 1) {
      call({ tool: 'Edit', mutating: true, target: `src/${total_steps}.ts` });
      for (let run = 0; run < 3; run += 1) call({ args_hash: 'npm test', result_hash: 'red', outcome: 'error' });
      send({ steps: { total_steps, verdicts: ['RETRY'] } });
      await sleep(1000);
    }
  },
  /** one call times out and the next succeeds, then an error comes that does not pass; no step is accepted */
  failsForGood: async () => {
    work();
    call({ args_hash: 'npm install', outcome: 'error', error_class: 'TimeoutError' });
    work();
    // Progress in the same heartbeat would end the error.
    await sleep(3000);
    const error = { count: 1, error_class: 'unrecoverable', hash: null, message: 'the credentials are revoked' };
    send({ errors: [{ at: Date.now(), ...error }] });
    for (let total_steps = 1; ; total_steps += 1) {
      send({ steps: { total_steps, verdicts: ['RETRY'] } });
      await sleep(1000);
    }
  },
  /** each call fails; its replacement works */
  failsEachCall: () => {
    if (attempt > 0) return workAndSave();
    leaveOnRequest();
    return failEachCall();
  },
  /** saves its work; each call fails when the story requests it, and its replacement works */
  failsOnRequest: async () => {
    leaveOnRequest();
    save();
    if (attempt > 0) return workOn();
    let isRequested = false;
    void untilGo().then(() => {
      isRequested = true;
    });
    while (!isRequested) {
      work();
      saveMore();
      await sleep(1000);
    }
    return failEachCall();
  },
  /** each call fails, and it exits slowly; its replacement works */
  failsAndStays: () => (attempt > 0 ? workAndSave() : failEachCall()),
  readsTheSame: async () => {
    for (;;) {
      print('reading');
      call({ tool: 'Read', args_hash: 'src/main.ts', result_hash: 'same', target: 'src/main.ts' });
      await sleep(500);
    }
  },
};
