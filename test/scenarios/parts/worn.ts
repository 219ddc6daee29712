import { setTimeout as sleep } from 'node:timers/promises';
import {
  attempt,
  forEver,
  heir,
  leaveWhenAsked,
  note,
  type Parts,
  save,
  say,
  tell,
  toldToGo,
  work,
  workOn,
} from '../craft.ts';

/** Works with so much of its context used. */
const usingContext = (tokens_used: number): Promise<void> => {
  leaveWhenAsked();
  say({ context: { tokens_used: attempt > 0 ? 10_000 : tokens_used, tokens_max: 100_000 } });
  return workOn();
};

/** Those who use up what they have, forget to say that they are done, or die. */
export const worn: Parts = {
  fillsItsContext: () => usingContext(81_000),
  fillsItToTheBrim: () => usingContext(80_000),
  /** tokens flow, and nothing comes of them */
  burns: async () => {
    work();
    for (let token_count = 1000; ; token_count += 500) {
      say({ activity: 'working', token_count });
      tell('thinking …');
      await sleep(500);
    }
  },
  /** its claim is as old as its start */
  forgetsItsClaim: () => {
    say({ work: { id: 'bd-7', claim_refreshed_at: Date.now() } });
    return workOn();
  },
  forgetsToSaySo: async () => {
    await workOn(3);
    tell('RESULT: all tests pass');
    return forEver();
  },
  crashes: async () => {
    await workOn(3);
    process.exit(1);
  },
  /** when the story says so */
  crashesWhenTold: async () => {
    void toldToGo().then(() => process.exit(1));
    return workOn();
  },
  crashesOnce: async () => {
    if (attempt > 0) return workOn();
    await workOn(3);
    save();
    await sleep(500);
    process.exit(1);
  },
  /** its first heir never begins, the second dies at its start, the third works */
  startsBadly: async () => {
    if (heir === 1) return forEver();
    if (heir > 2) return workOn();
    if (heir === 0) await workOn(3);
    process.exit(1);
  },
  /** dies, and so does its first heir while it is still on probation */
  crashesTwice: async () => {
    if (attempt > 1) return workOn();
    await workOn(6);
    note('dies');
    process.exit(1);
  },
};
