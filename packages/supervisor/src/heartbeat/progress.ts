import type { ToolCall, WorkItem } from '@vigil/events';
import {
  type Mark,
  type Progress as Marks,
  marked,
  applyReport as marksAfterReport,
  workSeen as marksAfterWork,
  noProgress as noMarks,
} from '@vigil/sdk/progress';
import type { ReportedFields } from '../messages/agent-report.ts';

/** What an agent has done, as far as orders depend on it: its reports, and what its supervisor observed. */
export type Progress = Marks & {
  /** the last 16 result hashes by tool and arguments; the 200 pairs used last */
  readonly results: Readonly<Record<string, readonly string[]>>;
  /** the tracker's last record of its work; null: none so far */
  readonly tracked: Marks['work'];
};

export const noProgress: Progress = { ...noMarks, results: {}, tracked: null };

type Results = Progress['results'];

const pairOf = (call: ToolCall): string => `${call.tool} ${call.args_hash ?? ''}`;

const isNew = (results: Results, call: ToolCall): boolean =>
  call.result_hash !== null && !(results[pairOf(call)] ?? []).includes(call.result_hash);

const remember = (results: Results, call: ToolCall): Results => {
  if (call.result_hash === null) return results;
  const { [pairOf(call)]: known = [], ...others } = results;
  const hashes = [...known.filter((hash) => hash !== call.result_hash), call.result_hash].slice(-16);
  return Object.fromEntries([...Object.entries(others).slice(-199), [pairOf(call), hashes]]);
};

const answered = (before: Progress, call: ToolCall, sequence: number): Progress => ({
  ...marked(before, isNew(before.results, call) ? ['change'] : [], sequence),
  results: remember(before.results, call),
});

/** Adds a report of the agent, which the heartbeat of this sequence will carry. A changed result is a change, too. */
export const progressAfterReport = (before: Progress, reported: ReportedFields, sequence: number): Progress =>
  (reported.tool_calls ?? []).reduce((so, call) => answered(so, call, sequence), {
    ...before,
    ...marksAfterReport(before, reported, sequence),
  });

/** Adds the tracker's record of its work. The agent's own report of its work is separate, and may come as well. */
export const workSeen = (before: Progress, work: WorkItem | null, sequence: number): Progress => {
  const known = { marks: before.marks, work: before.tracked };
  const seen = work === null ? known : marksAfterWork(known, work, sequence);
  return seen === known ? before : { ...before, marks: seen.marks, tracked: seen.work };
};

const outputMarks = ({ turn }: Progress, completed: boolean): readonly Mark[] => [
  ...(turn?.open === true ? [] : (['activity'] as const)),
  'output',
  ...(completed ? (['completion'] as const) : []),
];

/**
 * New output of the agent, our own text excluded. While its client reports an open turn, output is not activity: spinners and retry
 * lines are output, too. `completed`: it shows the signal that the work is complete.
 */
export const outputSeen = (progress: Progress, sequence: number, completed = false): Progress =>
  marked(progress, outputMarks(progress, completed), sequence);
