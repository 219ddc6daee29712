import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, print, type Scripts, saveMore, send } from '../craft.ts';

/**
 * One call after the other, without a pause: each takes a while and changes something. `asks`: whether it first asks a
 * person for a permission, which takes a second.
 */
const callOn = async (saves: (calls: number) => boolean, asks: (calls: number) => boolean): Promise<void> => {
  for (let calls = 1; ; calls += 1) {
    if (asks(calls)) {
      send({ activity: 'awaiting_input', waiting_for: { kind: 'permission', text: 'Bash', since: Date.now() } });
      await sleep(1000);
    }
    const call = { call_id: `long-${calls}`, tool: 'Bash', args_hash: `${calls}`, mutating: true };
    const started_at = Date.now();
    send({
      activity: 'working',
      tool_calls: [{ ...call, outcome: 'running', started_at, deadline_at: started_at + 5000 }],
    });
    print(`call ${calls}`);
    await sleep(500);
    send({ tool_calls: [{ ...call, outcome: 'ok', result_hash: `${calls}`, started_at, ended_at: Date.now() }] });
    if (saves(calls)) saveMore();
  }
};

/** Only after the first call; a replacement has learned from it. */
const savesFirst = (calls: number): boolean => calls === 1 || (attempt > 0 && calls % 4 === 0);
const never = (): boolean => false;

/** Agents that work all the time. */
export const unsaved: Scripts = {
  savesOnce: () => callOn(savesFirst, never),
  /** and save once, and ask a person for a permission every few seconds */
  asksOften: () => callOn(savesFirst, (calls) => calls % 10 === 0),
  savesAlways: () => callOn((calls) => calls % 4 === 0, never),
};
