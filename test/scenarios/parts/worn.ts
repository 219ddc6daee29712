import { setTimeout as sleep } from 'node:timers/promises';
import {
  attempt,
  forEver,
  leaveOnRequest,
  note,
  print,
  replacement,
  type Scripts,
  save,
  send,
  untilGo,
  work,
  workAndSave,
  workOn,
} from '../craft.ts';

/** Works with this much of its context used. */
const usingContext = (tokens_used: number): Promise<void> => {
  leaveOnRequest();
  send({ context: { tokens_used: attempt > 0 ? 10_000 : tokens_used, tokens_max: 100_000 } });
  return workOn();
};

/** Agents that use up their context or quota, do not report completion, or die. */
export const worn: Scripts = {
  fillsItsContext: () => usingContext(81_000),
  fillsItToTheBrim: () => usingContext(80_000),
  /** tokens flow, without a result */
  burns: async () => {
    work();
    for (let token_count = 1000; ; token_count += 500) {
      send({ activity: 'working', token_count });
      print('thinking …');
      await sleep(500);
    }
  },
  /** its claim is as old as its start */
  forgetsItsClaim: () => {
    send({ work: { id: 'bd-7', claim_refreshed_at: Date.now() } });
    return workOn();
  },
  forgetsToReport: async () => {
    await workOn(3);
    print('RESULT: all tests pass');
    return forEver();
  },
  /** at its empty prompt, without a word */
  sitsAtItsPrompt: async () => {
    await workOn(3);
    send({ activity: 'awaiting_input', waiting_for: { kind: 'prompt', text: null, since: Date.now() } });
    return forEver();
  },
  /** waits for a permission */
  asksForPermission: async () => {
    await workOn(3);
    send({ activity: 'awaiting_input', waiting_for: { kind: 'permission', text: 'Bash', since: Date.now() } });
    return forEver();
  },
  crashes: async () => {
    await workOn(3);
    process.exit(1);
  },
  /** when the story requests it */
  crashesOnRequest: async () => {
    void untilGo().then(() => process.exit(1));
    return workOn();
  },
  /** the same, and it saves checkpoints until then */
  savesUntilItCrashes: async () => {
    void untilGo().then(() => process.exit(1));
    return workAndSave();
  },
  crashesOnce: async () => {
    if (attempt > 0) return workAndSave();
    await workOn(3);
    save();
    await sleep(500);
    process.exit(1);
  },
  /** its first replacement never begins, the second dies at its start, the third works */
  startsBadly: async () => {
    if (replacement === 1) return forEver();
    if (replacement > 2) return workOn();
    if (replacement === 0) await workOn(3);
    process.exit(1);
  },
  /** dies, and so does its first replacement while it is still on probation */
  crashesTwice: async () => {
    if (attempt > 1) return workAndSave();
    await workOn(6);
    note('dies');
    process.exit(1);
  },
};
