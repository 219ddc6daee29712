import type { Step, Story } from './story.ts';

const of = (policy: Story['policy'], steps: readonly Step[]): readonly [Story] => [{ policy, steps, end: 'pardon' }];

/** Stories that random ones seldom contain: each is played first in every run. */
export const KNOWN: readonly (readonly [Story])[] = [
  // The unknown end of an instance is reported when the next one runs.
  of('asks', [
    { do: 'host', host: 0, what: 'mute' },
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'start', of: 0, host: 0, again: true },
    { do: 'end', agent: 2, reason: 'crashed' },
    { do: 'start', of: 0, host: 0, again: true },
    { do: 'host', host: 0, what: 'heal_late' },
    { do: 'wait', minutes: 5 },
  ]),
  // No runtime has room.
  of('asks', [
    { do: 'capacity', host: 0, agents: 0, failing: 0 },
    { do: 'capacity', host: 1, agents: 0, failing: 0 },
    { do: 'capacity', host: 2, agents: 1, failing: 0 },
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'wait', minutes: 2 },
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'wait', minutes: 12 },
  ]),
  // Two agents of a task: a host that was taken for gone comes back.
  of('asks', [
    { do: 'gone', host: 0 },
    { do: 'wait', minutes: 12 },
    { do: 'wait', minutes: 12 },
  ]),
  // A task is finished by its replacement; then the original, which a person had taken for dead, is ended as requested.
  of('asks', [
    { do: 'stop', agent: 0 },
    { do: 'host', host: 0, what: 'deaf' },
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'gone', host: 0 },
    { do: 'wait', minutes: 1 },
    { do: 'end', agent: 2, reason: 'finished' },
    { do: 'mode', agent: 0, mode: 'hangs' },
  ]),
  // An order waits for a host that receives nothing; the fleet is halted; then the host receives again.
  of('asks-handoff', [
    { do: 'host', host: 0, what: 'deaf' },
    { do: 'mode', agent: 0, mode: 'hangs' },
    { do: 'wait', minutes: 3 },
    { do: 'steer', what: 'HALT_FLEET' },
    { do: 'host', host: 0, what: 'heal' },
    { do: 'wait', minutes: 1 },
  ]),
  // A person's report that an agent is dead is read late, after it has been ended at that person's request.
  of('asks', [
    { do: 'stall', reader: 0, seconds: 40 },
    { do: 'gone', host: 0 },
    { do: 'request', agent: 0, step: 'terminate' },
    { do: 'hold', agent: 0 },
  ]),
  // Its replacement finishes the task; then the agent that was taken for dead comes back to it, and crashes.
  of('asks', [
    { do: 'gone', host: 1 },
    { do: 'end', agent: 4, reason: 'finished' },
    { do: 'wait', minutes: 1 },
    { do: 'end', agent: 3, reason: 'crashed' },
  ]),
  // An agent ends by an unconfirmed terminate, while the next case has requested a handoff.
  of('asks-handoff', [
    { do: 'request', agent: 0, step: 'terminate_and_recover' },
    { do: 'host', host: 0, what: 'mute' },
    { do: 'wait', minutes: 1 },
    { do: 'wait', minutes: 2 },
    { do: 'mode', agent: 0, mode: 'hangs' },
    { do: 'restart', reader: 0 },
  ]),
  // Agents that were taken for dead come back, and their host crashes while their replacements run: the brake waits for
  // none of them.
  of('asks', [
    { do: 'gone', host: 0 },
    { do: 'host', host: 0, what: 'deaf' },
    { do: 'wait', minutes: 1 },
    { do: 'host', host: 0, what: 'crash' },
    { do: 'end', agent: 0, reason: 'crashed' },
  ]),
  // An agent that was taken for dead comes back and finishes the task; then its replacement crashes.
  of('asks', [
    { do: 'gone', host: 0 },
    { do: 'wait', minutes: 0.55 },
    { do: 'end', agent: 0, reason: 'finished' },
    { do: 'wait', minutes: 1 },
    { do: 'end', agent: 2, reason: 'crashed' },
    { do: 'wait', minutes: 3 },
  ]),
  // The same, where its host reports the finish only after it was taken for dead.
  of('asks', [
    { do: 'host', host: 0, what: 'cut' },
    { do: 'gone', host: 0 },
    { do: 'end', agent: 0, reason: 'finished' },
    { do: 'host', host: 0, what: 'heal' },
    { do: 'wait', minutes: 1 },
    { do: 'end', agent: 2, reason: 'crashed' },
    { do: 'wait', minutes: 3 },
  ]),
  // A person requests the recovery of an agent whose replacement has the task.
  of('asks', [
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'wait', minutes: 1 },
    { do: 'recover', of: 0 },
    { do: 'wait', minutes: 2 },
  ]),
  // An agent that was taken for dead finishes the task while a spawn is out that no host takes.
  of('asks', [
    { do: 'host', host: 1, what: 'deaf' },
    { do: 'host', host: 2, what: 'deaf' },
    { do: 'gone', host: 0 },
    { do: 'wait', minutes: 0.55 },
    { do: 'end', agent: 0, reason: 'finished' },
    { do: 'wait', minutes: 3 },
    { do: 'host', host: 1, what: 'heal' },
    { do: 'host', host: 2, what: 'heal' },
    { do: 'wait', minutes: 5 },
  ]),
  // The end of the older of two attempts is requested; the newer one crashes before it is carried out.
  of('asks', [
    { do: 'gone', host: 0 },
    { do: 'wait', minutes: 0.7 },
    { do: 'end', agent: 5, reason: 'crashed' },
    { do: 'wait', minutes: 12 },
  ]),
  // A person ends a replacement on its probation.
  of('asks', [
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'wait', minutes: 1 },
    { do: 'request', agent: 3, step: 'terminate' },
    { do: 'request', agent: 4, step: 'terminate' },
    { do: 'wait', minutes: 2 },
  ]),
  // A case is to close as recovered when its handoff is over; a person decides otherwise before that.
  of('asks-handoff', [
    { do: 'manners', answers: false, leaves: false, dies: true },
    { do: 'mode', agent: 0, mode: 'hangs' },
    { do: 'wait', minutes: 2.6 },
    { do: 'mode', agent: 0, mode: 'works' },
    { do: 'wait', minutes: 0.8 },
    { do: 'decide', question: 0, decision: 'terminate_and_recover' },
    { do: 'wait', minutes: 3 },
  ]),
  // Agents that were taken for dead come back; that their tasks are to be recovered is read only then.
  of('asks', [
    { do: 'steer', what: 'HALT_FLEET' },
    { do: 'gone', host: 0 },
    { do: 'stall', reader: 2, seconds: 40 },
  ]),
  // A person gives more time to an agent with a handoff request; the handoff comes in that time.
  of('asks', [
    { do: 'recover', of: 0 },
    { do: 'decide', question: 0, decision: 'force_handoff' },
    { do: 'decide', question: 0, decision: 'allow_more_time' },
    { do: 'wait', minutes: 1 },
    { do: 'decide', question: 0, decision: 'allow_more_time' },
  ]),
  // A supervisor is killed while it ends an agent.
  of('people', [
    { do: 'request', agent: 0, step: 'terminate' },
    { do: 'wait', minutes: 0.09 },
    { do: 'host', host: 0, what: 'kill' },
    { do: 'wait', minutes: 0.2 },
    { do: 'host', host: 0, what: 'supervise' },
    { do: 'wait', minutes: 3 },
  ]),
  // A supervisor is killed that could not write the end of its agent.
  of('people', [
    { do: 'host', host: 0, what: 'mute' },
    { do: 'host', host: 0, what: 'fill' },
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'host', host: 0, what: 'kill' },
    { do: 'host', host: 0, what: 'free' },
    { do: 'host', host: 0, what: 'supervise' },
    { do: 'host', host: 0, what: 'heal' },
    { do: 'wait', minutes: 12 },
  ]),
  // The end of the older of two attempts stays unconfirmed; then the newer one crashes, and after it the older.
  of('asks', [
    { do: 'gone', host: 0 },
    { do: 'host', host: 0, what: 'deaf' },
    { do: 'wait', minutes: 5 },
    { do: 'host', host: 0, what: 'crash' },
    { do: 'end', agent: 1, reason: 'crashed' },
    { do: 'manners', answers: false, leaves: false, dies: false },
  ]),
  // An agent that was taken for dead has finished: the brake does not wait for it.
  of('botbox', [
    { do: 'gone', host: 0 },
    { do: 'end', agent: 3, reason: 'crashed' },
    { do: 'end', agent: 0, reason: 'finished' },
    { do: 'review', task: 0, decision: 'retry' },
  ]),
  // An agent with a handoff request is taken for dead, comes back, and follows the request.
  of('botbox', [
    { do: 'recover', of: 3 },
    { do: 'decide', question: 0, decision: 'force_handoff' },
    { do: 'gone', host: 1 },
    { do: 'host', host: 1, what: 'heal_late' },
    { do: 'recover', of: 0 },
  ]),
  // An agent has handed off; that is read when its terminate waits for a brake.
  of('asks', [
    { do: 'recover', of: 0 },
    { do: 'decide', question: 0, decision: 'force_handoff' },
    { do: 'stall', reader: 0, seconds: 300 },
    { do: 'stall', reader: 2, seconds: 300 },
    { do: 'host', host: 0, what: 'deaf' },
  ]),
  // A person starts an agent under another name on the task of one that has crashed, before the crash is known.
  of('asks', [
    { do: 'host', host: 0, what: 'kill' },
    { do: 'stop', agent: 0 },
    { do: 'end', agent: 1, reason: 'crashed' },
    { do: 'start', of: 2, host: 1, again: false },
    { do: 'wait', minutes: 5 },
    { do: 'hold', agent: 0 },
  ]),
  // An agent that was asked to hand off is lost and recovered; it comes back when its replacement has crashed, and completes its handoff.
  of('asks', [
    { do: 'host', host: 0, what: 'cut' },
    { do: 'wait', minutes: 3 },
    { do: 'decide', question: 0, decision: 'force_handoff' },
    { do: 'decide', question: 0, decision: 'allow_more_time' },
    { do: 'gone', host: 0 },
    { do: 'recover', of: 0 },
    { do: 'end', agent: 5, reason: 'crashed' },
    { do: 'start', of: 0, host: 0, again: false },
  ]),
  // An attempt is given up since its host cannot report. The next one finishes the task; then the host reports that the first one crashed.
  of('asks', [
    { do: 'end', agent: 0, reason: 'finished' },
    { do: 'host', host: 2, what: 'mute' },
    { do: 'request', agent: 0, step: 'terminate_and_recover' },
    { do: 'wait', minutes: 12 },
    { do: 'end', agent: 3, reason: 'crashed' },
    { do: 'end', agent: 1, reason: 'finished' },
  ]),
  // Cases are read late: the end of a terminate stays unconfirmed after its alert could have ended with the agent.
  of('asks', [
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'request', agent: 2, step: 'terminate_and_recover' },
    { do: 'stall', reader: 2, seconds: 300 },
    { do: 'host', host: 0, what: 'crash' },
    { do: 'wait', minutes: 3 },
    { do: 'request', agent: 0, step: 'nudge' },
    { do: 'end', agent: 0, reason: 'finished' },
  ]),
  // The same, and a person lets the task of another be tried again in between.
  of('asks', [
    { do: 'end', agent: 0, reason: 'crashed' },
    { do: 'request', agent: 2, step: 'terminate_and_recover' },
    { do: 'stall', reader: 2, seconds: 300 },
    { do: 'host', host: 0, what: 'crash' },
    { do: 'review', task: 0, decision: 'retry' },
    { do: 'wait', minutes: 3 },
    { do: 'request', agent: 0, step: 'nudge' },
    { do: 'end', agent: 0, reason: 'finished' },
  ]),
];
