import type { Step, Story } from './story.ts';

const of = (policy: Story['policy'], steps: readonly Step[]): readonly [Story] => [{ policy, steps, end: 'pardon' }];

/** Stories that random ones seldom contain. Every run plays them first. */
export const KNOWN: readonly (readonly [Story])[] = [
  // The unknown end of an instance is reported when the next one runs.
  of('asks', [
    { kind: 'host', host: 0, what: 'mute' },
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'start', of: 0, host: 0, again: true },
    { kind: 'end', agent: 2, reason: 'crashed' },
    { kind: 'start', of: 0, host: 0, again: true },
    { kind: 'host', host: 0, what: 'heal_late' },
    { kind: 'wait', minutes: 5 },
  ]),
  // No runtime has room.
  of('asks', [
    { kind: 'capacity', host: 0, agents: 0, failing: 0 },
    { kind: 'capacity', host: 1, agents: 0, failing: 0 },
    { kind: 'capacity', host: 2, agents: 1, failing: 0 },
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'wait', minutes: 2 },
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'wait', minutes: 12 },
  ]),
  // Two agents of a task: a host that was reported gone comes back.
  of('asks', [
    { kind: 'gone', host: 0 },
    { kind: 'wait', minutes: 12 },
    { kind: 'wait', minutes: 12 },
  ]),
  // A task is finished by a replacement. Then the original agent, which a person had reported dead, is ended as requested.
  of('asks', [
    { kind: 'stop', agent: 0 },
    { kind: 'host', host: 0, what: 'deaf' },
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'gone', host: 0 },
    { kind: 'wait', minutes: 1 },
    { kind: 'end', agent: 2, reason: 'finished' },
    { kind: 'mode', agent: 0, mode: 'hangs' },
  ]),
  // An order waits for a host that receives nothing; the fleet is halted; then the host receives again.
  of('asks-handoff', [
    { kind: 'host', host: 0, what: 'deaf' },
    { kind: 'mode', agent: 0, mode: 'hangs' },
    { kind: 'wait', minutes: 3 },
    { kind: 'control', what: 'HALT_FLEET' },
    { kind: 'host', host: 0, what: 'heal' },
    { kind: 'wait', minutes: 1 },
  ]),
  // A person's report that an agent is dead is read late, after it has been ended at that person's request.
  of('asks', [
    { kind: 'stall', reader: 0, seconds: 40 },
    { kind: 'gone', host: 0 },
    { kind: 'request', agent: 0, step: 'terminate' },
    { kind: 'hold', agent: 0 },
  ]),
  // A replacement finishes the task. Then the agent that was assumed dead comes back to it, and crashes.
  of('asks', [
    { kind: 'gone', host: 1 },
    { kind: 'end', agent: 4, reason: 'finished' },
    { kind: 'wait', minutes: 1 },
    { kind: 'end', agent: 3, reason: 'crashed' },
  ]),
  // An agent ends by an unconfirmed terminate, while the next case has requested a handoff.
  of('asks-handoff', [
    { kind: 'request', agent: 0, step: 'terminate_and_recover' },
    { kind: 'host', host: 0, what: 'mute' },
    { kind: 'wait', minutes: 1 },
    { kind: 'wait', minutes: 2 },
    { kind: 'mode', agent: 0, mode: 'hangs' },
    { kind: 'restart', reader: 0 },
  ]),
  // Agents that were assumed dead come back, and their host crashes while their replacements run. The brake waits for
  // none of them.
  of('asks', [
    { kind: 'gone', host: 0 },
    { kind: 'host', host: 0, what: 'deaf' },
    { kind: 'wait', minutes: 1 },
    { kind: 'host', host: 0, what: 'crash' },
    { kind: 'end', agent: 0, reason: 'crashed' },
  ]),
  // An agent that was assumed dead comes back and finishes the task; then its replacement crashes.
  of('asks', [
    { kind: 'gone', host: 0 },
    { kind: 'wait', minutes: 0.55 },
    { kind: 'end', agent: 0, reason: 'finished' },
    { kind: 'wait', minutes: 1 },
    { kind: 'end', agent: 2, reason: 'crashed' },
    { kind: 'wait', minutes: 3 },
  ]),
  // The same, but its host reports the finish only after it was assumed dead.
  of('asks', [
    { kind: 'host', host: 0, what: 'cut' },
    { kind: 'gone', host: 0 },
    { kind: 'end', agent: 0, reason: 'finished' },
    { kind: 'host', host: 0, what: 'heal' },
    { kind: 'wait', minutes: 1 },
    { kind: 'end', agent: 2, reason: 'crashed' },
    { kind: 'wait', minutes: 3 },
  ]),
  // A person requests the recovery of an agent whose replacement has the task.
  of('asks', [
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'wait', minutes: 1 },
    { kind: 'recover', of: 0 },
    { kind: 'wait', minutes: 2 },
  ]),
  // An agent that was assumed dead finishes the task during a spawn that no host accepts.
  of('asks', [
    { kind: 'host', host: 1, what: 'deaf' },
    { kind: 'host', host: 2, what: 'deaf' },
    { kind: 'gone', host: 0 },
    { kind: 'wait', minutes: 0.55 },
    { kind: 'end', agent: 0, reason: 'finished' },
    { kind: 'wait', minutes: 3 },
    { kind: 'host', host: 1, what: 'heal' },
    { kind: 'host', host: 2, what: 'heal' },
    { kind: 'wait', minutes: 5 },
  ]),
  // The end of the older of two attempts is requested; the newer one crashes before that end.
  of('asks', [
    { kind: 'gone', host: 0 },
    { kind: 'wait', minutes: 0.7 },
    { kind: 'end', agent: 5, reason: 'crashed' },
    { kind: 'wait', minutes: 12 },
  ]),
  // A person ends a replacement on its probation.
  of('asks', [
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'wait', minutes: 1 },
    { kind: 'request', agent: 3, step: 'terminate' },
    { kind: 'request', agent: 4, step: 'terminate' },
    { kind: 'wait', minutes: 2 },
  ]),
  // A case would close as recovered at the end of its handoff, but a person decides otherwise before that.
  of('asks-handoff', [
    { kind: 'manners', answers: false, leaves: false, dies: true },
    { kind: 'mode', agent: 0, mode: 'hangs' },
    { kind: 'wait', minutes: 2.6 },
    { kind: 'mode', agent: 0, mode: 'works' },
    { kind: 'wait', minutes: 0.8 },
    { kind: 'decide', question: 0, decision: 'terminate_and_recover' },
    { kind: 'wait', minutes: 3 },
  ]),
  // Agents that were assumed dead come back; only then are the requests to recover their tasks read.
  of('asks', [
    { kind: 'control', what: 'HALT_FLEET' },
    { kind: 'gone', host: 0 },
    { kind: 'stall', reader: 2, seconds: 40 },
  ]),
  // A person gives more time to an agent with a handoff request; the handoff comes in that time.
  of('asks', [
    { kind: 'recover', of: 0 },
    { kind: 'decide', question: 0, decision: 'force_handoff' },
    { kind: 'decide', question: 0, decision: 'allow_more_time' },
    { kind: 'wait', minutes: 1 },
    { kind: 'decide', question: 0, decision: 'allow_more_time' },
  ]),
  // A supervisor is killed while it ends an agent.
  of('people', [
    { kind: 'request', agent: 0, step: 'terminate' },
    { kind: 'wait', minutes: 0.09 },
    { kind: 'host', host: 0, what: 'kill' },
    { kind: 'wait', minutes: 0.2 },
    { kind: 'host', host: 0, what: 'supervise' },
    { kind: 'wait', minutes: 3 },
  ]),
  // A supervisor that could not write the end of its agent is killed.
  of('people', [
    { kind: 'host', host: 0, what: 'mute' },
    { kind: 'host', host: 0, what: 'fill' },
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'host', host: 0, what: 'kill' },
    { kind: 'host', host: 0, what: 'free' },
    { kind: 'host', host: 0, what: 'supervise' },
    { kind: 'host', host: 0, what: 'heal' },
    { kind: 'wait', minutes: 12 },
  ]),
  // The end of the older of two attempts stays unconfirmed; then the newer one crashes, and after it the older.
  of('asks', [
    { kind: 'gone', host: 0 },
    { kind: 'host', host: 0, what: 'deaf' },
    { kind: 'wait', minutes: 5 },
    { kind: 'host', host: 0, what: 'crash' },
    { kind: 'end', agent: 1, reason: 'crashed' },
    { kind: 'manners', answers: false, leaves: false, dies: false },
  ]),
  // An agent that was assumed dead has finished, so the brake does not wait for it.
  of('botbox', [
    { kind: 'gone', host: 0 },
    { kind: 'end', agent: 3, reason: 'crashed' },
    { kind: 'end', agent: 0, reason: 'finished' },
    { kind: 'review', task: 0, decision: 'retry' },
  ]),
  // An agent with a handoff request is assumed dead, comes back, and follows the request.
  of('botbox', [
    { kind: 'recover', of: 3 },
    { kind: 'decide', question: 0, decision: 'force_handoff' },
    { kind: 'gone', host: 1 },
    { kind: 'host', host: 1, what: 'heal_late' },
    { kind: 'recover', of: 0 },
  ]),
  // An agent has handed off; the report is read while its terminate waits for a brake.
  of('asks', [
    { kind: 'recover', of: 0 },
    { kind: 'decide', question: 0, decision: 'force_handoff' },
    { kind: 'stall', reader: 0, seconds: 300 },
    { kind: 'stall', reader: 2, seconds: 300 },
    { kind: 'host', host: 0, what: 'deaf' },
  ]),
  // A person starts an agent under another name on the task of one that has crashed, before the crash is known.
  of('asks', [
    { kind: 'host', host: 0, what: 'kill' },
    { kind: 'stop', agent: 0 },
    { kind: 'end', agent: 1, reason: 'crashed' },
    { kind: 'start', of: 2, host: 1, again: false },
    { kind: 'wait', minutes: 5 },
    { kind: 'hold', agent: 0 },
  ]),
  // An agent that was asked to hand off is lost and recovered; it comes back when its replacement has crashed, and completes its handoff.
  of('asks', [
    { kind: 'host', host: 0, what: 'cut' },
    { kind: 'wait', minutes: 3 },
    { kind: 'decide', question: 0, decision: 'force_handoff' },
    { kind: 'decide', question: 0, decision: 'allow_more_time' },
    { kind: 'gone', host: 0 },
    { kind: 'recover', of: 0 },
    { kind: 'end', agent: 5, reason: 'crashed' },
    { kind: 'start', of: 0, host: 0, again: false },
  ]),
  // An attempt is abandoned because its host cannot report. The next one finishes the task; then the host reports that the first one crashed.
  of('asks', [
    { kind: 'end', agent: 0, reason: 'finished' },
    { kind: 'host', host: 2, what: 'mute' },
    { kind: 'request', agent: 0, step: 'terminate_and_recover' },
    { kind: 'wait', minutes: 12 },
    { kind: 'end', agent: 3, reason: 'crashed' },
    { kind: 'end', agent: 1, reason: 'finished' },
  ]),
  // Cases are read late: the end of a terminate stays unconfirmed after its alert could have ended with the agent.
  of('asks', [
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'request', agent: 2, step: 'terminate_and_recover' },
    { kind: 'stall', reader: 2, seconds: 300 },
    { kind: 'host', host: 0, what: 'crash' },
    { kind: 'wait', minutes: 3 },
    { kind: 'request', agent: 0, step: 'nudge' },
    { kind: 'end', agent: 0, reason: 'finished' },
  ]),
  // The same, and in between a person permits another try of another task.
  of('asks', [
    { kind: 'end', agent: 0, reason: 'crashed' },
    { kind: 'request', agent: 2, step: 'terminate_and_recover' },
    { kind: 'stall', reader: 2, seconds: 300 },
    { kind: 'host', host: 0, what: 'crash' },
    { kind: 'review', task: 0, decision: 'retry' },
    { kind: 'wait', minutes: 3 },
    { kind: 'request', agent: 0, step: 'nudge' },
    { kind: 'end', agent: 0, reason: 'finished' },
  ]),
  // A host that was muted reports an ordered end late: its alert is resolved, and the recovery waits for room.
  of('asks', [
    { kind: 'host', host: 0, what: 'mute' },
    { kind: 'host', host: 1, what: 'kill' },
    { kind: 'wait', minutes: 12 },
    { kind: 'wait', minutes: 12 },
  ]),
  // A finish is reported after a person has started another agent on the task, and that one has crashed.
  of('asks', [
    { kind: 'host', host: 0, what: 'kill' },
    { kind: 'stop', agent: 1 },
    { kind: 'end', agent: 0, reason: 'finished' },
    { kind: 'start', of: 0, host: 1, again: false },
    { kind: 'stall', reader: 2, seconds: 5 },
    { kind: 'end', agent: 2, reason: 'crashed' },
    { kind: 'decide', question: 0, decision: 'allow_more_time' },
  ]),
];
