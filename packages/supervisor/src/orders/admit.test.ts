import { expect, test } from 'vitest';
import { noProgress, outputSeen, progressAfterReport } from '../heartbeat/progress.ts';
import { understand } from '../messages/agent-report.ts';
import { interrupt, nudge, pause, resume, resumeSession, terminate } from '../testing/stage.ts';
import { admit, type Process } from './admit.ts';
import { type AgentOrder, receiptOf } from './order.ts';

const living: Process = {
  instanceId: 'instance-1',
  ended: null,
  highestNumber: -1,
  done: new Map(),
  progress: noProgress,
  channel: 'terminal',
  atQuestion: false,
  quiet: true,
  typing: { kind: 'line' },
  isBeingTypedAt: false,
  paused: false,
  resumedByItself: false,
};
const reported = (words: object) => understand(JSON.stringify(words)).reported;
const call = (more: object) => ({ tool_calls: [{ call_id: 'c', tool: 'Bash', args_hash: 'a', ...more }] });
const admissionKind = (order: AgentOrder, process: Partial<Process> = {}, now = 0) =>
  admit({ order, expiresAt: 1000 }, { ...living, ...process }, now).kind;

test('an order for the living instance, in time, goes', () => {
  expect(admissionKind(terminate())).toBe('go');
  expect(admissionKind(nudge())).toBe('go');
});

test('an order for another instance is superseded', () => {
  expect(admissionKind(terminate({ instanceId: 'instance-0' }))).toBe('superseded');
  expect(admissionKind(terminate({ instanceId: null }))).toBe('superseded');
});

test('an order for an instance that has ended is superseded', () => {
  expect(admissionKind(terminate(), { ended: 'exited with code 1' })).toBe('superseded');
});

test('an order whose number is not above the highest begun is superseded', () => {
  expect(admissionKind(nudge({ number: 3 }), { highestNumber: 4 })).toBe('superseded');
  expect(admissionKind(nudge({ number: 4 }), { highestNumber: 4 })).toBe('superseded');
  expect(admissionKind(nudge({ number: 5 }), { highestNumber: 4 })).toBe('go');
});

test('an order is good until exactly the end of its time to live', () => {
  expect(admissionKind(terminate(), {}, 1000)).toBe('go');
  expect(admissionKind(terminate(), {}, 1001)).toBe('expired');
});

test('an order done before gets the same receipt, even late and for an ended instance', () => {
  const receipt = receiptOf(terminate(), 5, 'done', { confirmed: true });
  const done = new Map([[receipt.orderId, receipt]]);
  const admission = admit({ order: terminate(), expiresAt: 0 }, { ...living, done, ended: 'ended by SIGTERM' }, 9);
  expect(admission).toEqual({ kind: 'again', receipt });
});

const unsaved = { axes: ['absence'], awaits: [['checkpoint' as const]], foldedSequence: 7 };

test('an agent that works on without a checkpoint is not spared because it works', () => {
  const working = progressAfterReport(outputSeen(noProgress, 8), reported(call({ mutating: true, outcome: 'ok' })), 8);
  for (const order of [nudge(unsaved), terminate(unsaved)])
    expect(admissionKind(order, { progress: working })).toBe('go');
});

test('one that has written its checkpoint is spared', () => {
  const progress = progressAfterReport(noProgress, reported({ checkpoint: { checkpoint_id: 'cp' } }), 8);
  for (const order of [nudge(unsaved), terminate(unsaved)])
    expect(admissionKind(order, { progress })).toBe('superseded');
});

test('output ends a finding that awaits output; only the completion signal ends one that awaits completion', () => {
  const awaiting = (mark: 'output' | 'completion') => terminate({ awaits: [[mark]], foldedSequence: 7 });
  expect(admissionKind(awaiting('output'), { progress: outputSeen(noProgress, 8) })).toBe('superseded');
  expect(admissionKind(awaiting('output'), { progress: progressAfterReport(noProgress, reported(call({})), 8) })).toBe(
    'go',
  );
  expect(admissionKind(awaiting('completion'), { progress: outputSeen(noProgress, 8) })).toBe('go');
  expect(admissionKind(awaiting('completion'), { progress: outputSeen(noProgress, 8, true) })).toBe('superseded');
});

const silence = { axes: ['absence'], foldedSequence: 7 };
const loop = { axes: ['repetition'], foldedSequence: 7 };

test('a finding of silence is overtaken by any newer output, call or word of the agent', () => {
  expect(admissionKind(terminate(silence), { progress: outputSeen(noProgress, 8) })).toBe('superseded');
  expect(
    admissionKind(terminate(silence), { progress: progressAfterReport(noProgress, reported({ phase: 'x' }), 8) }),
  ).toBe('superseded');
});

test('output during a turn that the client reports as open does not count as activity: a hung agent that redraws its spinner is not spared', () => {
  const turn = { open: true, started_at: 1, last_event_at: 1 };
  const open = progressAfterReport(noProgress, reported({ turn }), 7);
  expect(admissionKind(terminate(silence), { progress: outputSeen(open, 8) })).toBe('go');
  const unanswered = terminate({ awaits: [['turn', 'call', 'tokens']], foldedSequence: 7 });
  expect(admissionKind(unanswered, { progress: outputSeen(open, 8) })).toBe('go');
  expect(
    admissionKind(unanswered, {
      progress: progressAfterReport(open, reported({ turn: { ...turn, last_event_at: 2 } }), 8),
    }),
  ).toBe('superseded');
  const closed = progressAfterReport(open, reported({ turn: { ...turn, open: false } }), 7);
  expect(admissionKind(terminate(silence), { progress: outputSeen(closed, 8) })).toBe('superseded');
});

test('a finding of silence is not overtaken by activity that it had folded', () => {
  expect(admissionKind(terminate(silence), { progress: outputSeen(noProgress, 7) })).toBe('go');
});

test('a finding of repetition is not overtaken by output or by the same result again', () => {
  const before = progressAfterReport(noProgress, reported(call({ result_hash: 'r', outcome: 'error' })), 6);
  const again = progressAfterReport(outputSeen(before, 9), reported(call({ result_hash: 'r', outcome: 'error' })), 9);
  expect(admissionKind(terminate(loop), { progress: again })).toBe('go');
});

test('a finding of repetition is overtaken by a changed result, a mutation or a checkpoint', () => {
  const changes = [
    call({ result_hash: 'other', outcome: 'error' }),
    call({ mutating: true, outcome: 'ok' }),
    { checkpoint: { checkpoint_id: 'cp' } },
  ];
  for (const change of changes)
    expect(admissionKind(terminate(loop), { progress: progressAfterReport(noProgress, reported(change), 8) })).toBe(
      'superseded',
    );
});

test('a failed mutation overtakes no repetition', () => {
  const progress = progressAfterReport(noProgress, reported(call({ mutating: true, outcome: 'error' })), 8);
  expect(admissionKind(terminate(loop), { progress })).toBe('go');
});

test('a finding on two axes is overtaken only on both', () => {
  const both = { axes: ['absence', 'repetition'], foldedSequence: 7 };
  expect(admissionKind(terminate(both), { progress: outputSeen(noProgress, 8) })).toBe('go');
  expect(
    admissionKind(terminate(both), {
      progress: progressAfterReport(noProgress, reported({ checkpoint: { checkpoint_id: 'c' } }), 8),
    }),
  ).toBe('superseded');
});

test('a fact, and an order given by hand, are not overtaken by progress', () => {
  const progress = progressAfterReport(noProgress, reported({ checkpoint: { checkpoint_id: 'c' } }), 99);
  expect(admissionKind(terminate({ axes: ['fact'], foldedSequence: 7 }), { progress })).toBe('go');
  expect(admissionKind(terminate({ axes: [], foldedSequence: 7 }), { progress })).toBe('go');
  expect(admissionKind(terminate({ axes: ['absence'], foldedSequence: null }), { progress })).toBe('go');
});

const calling = progressAfterReport(noProgress, reported(call({ outcome: 'running' })), 1);

test('nothing is typed during a call, at a question, or while the terminal is being written to', () => {
  expect(admissionKind(nudge(), { progress: calling })).toBe('wait');
  expect(admissionKind(nudge(), { atQuestion: true })).toBe('wait');
  expect(admissionKind(nudge(), { quiet: false })).toBe('wait');
});

test('a call that has ended holds nothing up', () => {
  expect(admissionKind(nudge(), { progress: progressAfterReport(calling, reported(call({ outcome: 'ok' })), 2) })).toBe(
    'go',
  );
});

test('down the socket a nudge disturbs nothing', () => {
  expect(admissionKind(nudge(), { channel: 'socket', progress: calling, quiet: false })).toBe('go');
});

test('a waiting nudge expires', () => {
  expect(admissionKind(nudge(), { quiet: false }, 1000)).toBe('wait');
  expect(admissionKind(nudge(), { quiet: false }, 1001)).toBe('expired');
});

test('a nudge that could not be given to an agent that waits for a person has not been left unanswered', () => {
  expect(admissionKind(nudge(), { atQuestion: true }, 1000)).toBe('wait');
  expect(admissionKind(nudge(), { atQuestion: true }, 1001)).toBe('superseded');
});

test('an agent that waits for a person is neither interrupted nor resumed; one that hangs is', () => {
  for (const order of [interrupt(), resumeSession()]) {
    expect(admissionKind(order)).toBe('go');
    expect(admissionKind(order, { atQuestion: true })).toBe('superseded');
    expect(admissionKind(order, { progress: calling, quiet: false })).toBe('go');
  }
});

test('a terminate waits for nothing', () => {
  expect(admissionKind(terminate(), { progress: calling, atQuestion: true, quiet: false })).toBe('go');
});

test('what the agent reads in a file is put there only between calls, and while it has no question', () => {
  const file = { channel: 'file' } as const;
  const midCall = progressAfterReport(noProgress, reported(call({ outcome: 'running' })), 1);
  expect(admissionKind(nudge(), file)).toBe('go');
  expect(admissionKind(nudge(), { ...file, quiet: false })).toBe('go');
  expect(admissionKind(nudge(), { ...file, atQuestion: true })).toBe('wait');
  expect(admissionKind(nudge(), { ...file, progress: midCall })).toBe('wait');
  expect(
    admissionKind(nudge(), { ...file, progress: progressAfterReport(midCall, reported(call({ outcome: 'ok' })), 2) }),
  ).toBe('go');
});

test('a paused agent receives no text on any channel; it can be resumed and ended', () => {
  for (const channel of ['socket', 'terminal', 'file', 'hook'] as const)
    expect(admissionKind(nudge(), { channel, paused: true })).toBe('wait');
  expect(admissionKind(pause(), { paused: true })).toBe('go');
  expect(admissionKind(resume(), { paused: true })).toBe('go');
  expect(admissionKind(terminate(), { paused: true })).toBe('go');
});
