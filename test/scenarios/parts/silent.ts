import { setTimeout as sleep } from 'node:timers/promises';
import {
  attempt,
  forEver,
  leaveOnRequest,
  note,
  print,
  received,
  type Scripts,
  saveMore,
  send,
  work,
  workAndSave,
  workOn,
  workThenStop,
} from '../craft.ts';
import { BLOCKER, HANDOFF } from './answers.ts';

const stopAfterACheckpoint = async (): Promise<void> => {
  await workThenStop();
  return forEver();
};

const testing = async (mayTakeMs: number): Promise<void> => {
  work();
  const running = { call_id: 'tests', tool: 'Bash', args_hash: 'npm test', outcome: 'running' };
  const times = { started_at: Date.now(), deadline_at: Date.now() + mayTakeMs };
  send({ activity: 'working', tool_calls: [{ ...running, ...times }] });
  return forEver();
};
/** A step that its judge has accepted; then a call that may take ten minutes. */
const hanging = (call: { readonly kind: string; readonly tool: string }): Promise<void> => {
  send({ steps: { total_steps: 1, verdicts: ['ACCEPT'] } });
  work();
  const times = { started_at: Date.now(), deadline_at: Date.now() + 600_000 };
  send({ activity: 'working', tool_calls: [{ call_id: 'hung', ...call, outcome: 'running', ...times }] });
  return forEver();
};

/** Agents that work, and agents that become silent. */
export const silent: Scripts = {
  works: () => workOn(),
  /** with a checkpoint after every third part */
  worksAndSaves: workAndSave,
  /** works, and exits at once on request */
  obeys: () => {
    leaveOnRequest();
    return workAndSave();
  },
  /** ignores SIGTERM; its replacement works */
  stalls: async () => {
    if (attempt > 0) return workAndSave();
    process.on('SIGTERM', () => note('asked to end'));
    return stopAfterACheckpoint();
  },
  stallsEachTime: stopAfterACheckpoint,
  stallsOnce: () => (attempt > 0 ? workAndSave() : stopAfterACheckpoint()),
  recovers: async () => {
    await workThenStop();
    await received((message) => message.nudge !== undefined);
    return workAndSave();
  },
  handoff: async () => {
    if (attempt > 0) return workAndSave();
    await workThenStop();
    await received((message) => message.type === 'handoff_request');
    saveMore();
    await sleep(500);
    process.exit(0);
  },
  /** answers its first nudge with a request for a handoff, and follows the handoff */
  asksToHandOff: async () => {
    if (attempt > 0) return workAndSave();
    await workThenStop();
    await received((message) => message.nudge !== undefined);
    send({ handoff: HANDOFF });
    await received((message) => message.type === 'handoff_request');
    saveMore();
    await sleep(500);
    process.exit(0);
  },
  /** answers its first nudge with what blocks it, and does nothing more */
  reportsBlockers: async () => {
    if (attempt > 0) return workAndSave();
    await workThenStop();
    await received((message) => message.nudge !== undefined);
    send({ blockers: [BLOCKER] });
    return forEver();
  },
  /** silent from its first moment; begins late */
  beginsLate: async () => {
    await sleep(6000);
    return workOn();
  },
  idles: async () => {
    work();
    await sleep(1000);
    send({ activity: 'idle' });
    return forEver();
  },
  /** one call that takes as long as declared */
  testsForLong: () => testing(600_000),
  hangsInAModelCall: () => hanging({ kind: 'model', tool: 'model' }),
  hangsInATool: () => hanging({ kind: 'tool', tool: 'Bash' }),
  /** one call that never ends; no message reaches the agent */
  testsForTooLong: () => {
    process.on('SIGTERM', () => note('asked to end'));
    return testing(4000);
  },
  /** at its prompt, without an answer */
  prompts: async () => {
    work();
    // Its report has been read by then, on a busy machine too.
    await sleep(3000);
    process.stdout.write('Shall I continue? ');
    process.stdin.once('data', (data) => note(`typed ${data}`));
    return forEver();
  },
  /** stops working, even when its work item changes */
  leftBehind: async () => {
    await workOn(3);
    note('rests');
    return forEver();
  },
  finishes: async () => {
    await workOn(3);
    print('<promise>COMPLETE</promise>');
    setTimeout(() => process.exit(0), 500);
  },
};
