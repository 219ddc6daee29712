import { Topic } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import { aboutAlert, controlAlerts, endSilence, notifyOperator } from './alerts.ts';
import type { Command, CommandDraft } from './command.ts';
import { confirmDeath, fileTicket, hold, hostGone, release, resetBreaker } from './control-agent.ts';
import { answerRequest, blockTask, decideCase, requestStep, reviewTask } from './decisions.ts';
import { applyPolicy } from './policy.ts';

/**
 * The events that a command is written as: one, except for a host, which has one for each agent. Throws Problem if
 * its subject does not exist, or is over.
 */
export const draftsOf = async (command: Command, model: ReadModel, now: number): Promise<readonly CommandDraft[]> =>
  command.kind === 'host_gone' ? hostGone(command, model) : [await draftOf(command, model, now)];

type OfOne = Exclude<Command, { kind: 'host_gone' }>;

const draftOf = async (command: OfOne, model: ReadModel, now: number): Promise<CommandDraft> => {
  const { by, why } = command;
  switch (command.kind) {
    case 'decide_case':
      return decideCase(command, model);
    case 'request_step':
      return requestStep(command, model);
    case 'hold': {
      const until = command.forMs === undefined ? null : now + command.forMs;
      return hold(command, until, model);
    }
    case 'release':
      return release(command, model, now);
    case 'reset_breaker':
      return resetBreaker(command, model);
    case 'confirm_death':
      return confirmDeath(command.agentId, command.instanceId, { by, why }, 1);
    case 'halt':
      return controlFleet('HALT_FLEET', { by, why });
    case 'resume':
      return controlFleet('RESUME_FLEET', { by, why });
    case 'lift_brake':
      return controlFleet('LIFT_BRAKE', { by, why });
    case 'dry_run':
      return controlFleet(command.on ? 'DRY_RUN_ON' : 'DRY_RUN_OFF', { by, why });
    case 'answer_request':
      return answerRequest(command, model);
    case 'review_task':
      return reviewTask(command, model);
    case 'block_task':
      return blockTask(command, model);
    case 'apply_policy':
      return applyPolicy(command, model);
    case 'file_ticket':
      return fileTicket(command, model, now);
    case 'notify_operator':
      return notifyOperator(command, model);
    case 'acknowledge':
      return aboutAlert('ACKNOWLEDGE_ALERT', command, model);
    case 'resolve_alert':
      return aboutAlert('RESOLVE_ALERT', command, model);
    case 'test_channel': {
      const { channel } = command;
      return controlAlerts('TEST_CHANNEL', `channel_test:${channel}`, { channel, by, why });
    }
    case 'silence': {
      const until = now + command.forMs;
      return controlAlerts('SILENCE_ALERTS', 'silences', { matchers: command.matchers, until, by, why, silenceId: '' });
    }
    case 'end_silence':
      return endSilence(command, model, now);
  }
};

type FleetControl = 'HALT_FLEET' | 'RESUME_FLEET' | 'LIFT_BRAKE' | 'DRY_RUN_ON' | 'DRY_RUN_OFF';
const controlFleet = (type: FleetControl, payload: { by: string; why: string }): CommandDraft => ({
  topic: Topic.controlFleet,
  type,
  key: 'fleet',
  payload,
});
