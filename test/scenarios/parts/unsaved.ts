import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, print, type Scripts, saveMore, send } from '../craft.ts';

/** One call after the other, without a pause: each takes a while and changes something. */
const callOn = async (saves: (calls: number) => boolean): Promise<void> => {
  for (let calls = 1; ; calls += 1) {
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

/** Agents that work all the time. */
export const unsaved: Scripts = {
  /** and save once; the replacement has learned from it */
  savesOnce: () => callOn((calls) => calls === 1 || (attempt > 0 && calls % 4 === 0)),
  savesAlways: () => callOn((calls) => calls % 4 === 0),
};
