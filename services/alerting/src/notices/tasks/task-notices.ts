import type { EventOf, PayloadOf, Topic } from '@vigil/events';
import { BLOCKED_ROUTE } from '../agents/agent-notices.ts';
import { taskSpent } from '../fleet/fleet-notices.ts';
import { type About, inWords, type Noticed, outputOf, raise, resolve, startAgain } from '../notice.ts';
import { BREAKER_ROUTE, breakerNotices, RECOVERY } from './breaker-notices.ts';

const ROUTE = 'recovery_failed';
/** No checkpoint of a task could be used: work may be done twice. */
const LOST = 'checkpoint_lost';

/** What people should know about the recovery of a task. */
export const taskNotices = (input: EventOf<typeof Topic.taskRecovery>): readonly Noticed[] => {
  const { taskId } = input.payload;
  const about: About = { agentId: null, taskId };
  switch (input.type) {
    case 'SPAWN_IMPOSSIBLE': {
      const { reason, agentId, cause, lastOutput } = input.payload;
      const title = agentId === null ? `${taskId} has no agent` : `${taskId} has no agent after ${agentId} (${cause})`;
      const text = [
        `${startAgain({ agentId, taskId }, input.policy)} Or let a runtime do it: see the end of this text.`,
        ...outputOf(agentId, lastOutput),
        reason,
      ].join('\n');
      return [raise(ROUTE, { ...about, agentId }, { title, text })];
    }
    case 'RECOVERY_WAITING': {
      const { reason, refusals, agentId, cause, lastOutput } = input.payload;
      const title = `${taskId} has no agent: its recovery waits`;
      const dead = agentId === null ? [] : [`${agentId} had it (${cause})`];
      const asked = `refused ${refusals} times, and asked for again every minute`;
      const waits = `${reason}; ${refusals === 0 ? 'a fresh agent takes it up then' : asked}`;
      const text = [waits, ...dead, ...outputOf(agentId, lastOutput)].join('\n');
      return [raise(ROUTE, { ...about, agentId }, { severity: 'warning', title, text })];
    }
    case 'REVIEW_REQUIRED': {
      const { reason, agentId, checkpoint, lastOutput } = input.payload;
      const text = [reason, ...outputOf(agentId, lastOutput)].join('\n');
      const title = `${taskId} waits for review: nothing more happens by itself`;
      const itemId = `task/${taskId}`;
      const question = { options: ['retry', 'reset', 'abandon'], askedAt: input.occurredAt };
      const asked = { ...question, checkpoint, blocked: blockedBy(input.payload), itemId };
      // The start without a checkpoint and the pause of attempts are history: the review is what people decide now.
      return [
        raise(ROUTE, { ...about, agentId }, { title, text, ...asked }),
        resolve(LOST, about, title),
        resolve(BREAKER_ROUTE, { ...about, of: RECOVERY }, title),
      ];
    }
    case 'REVIEW_DECIDED': {
      const { decision, by, why } = input.payload;
      const text = `${inWords(decision)}, decided by ${by}: ${why}`;
      return [resolve(ROUTE, about, text), resolve(BLOCKED_ROUTE, about, text)];
    }
    case 'RECOVERY_COMPLETED':
      return [ROUTE, BLOCKED_ROUTE].map((one) => resolve(one, about, `${input.payload.newAgentId} continues with it`));
    case 'RECOVERY_INITIATED': {
      const { fromCheckpoint, skipped, newAgentId } = input.payload;
      if (fromCheckpoint !== 'task-start') return [];
      const unused = skipped.map((one) => `${one.checkpointId}: ${one.why}`).join('; ');
      const why = skipped.length > 0 ? 'no checkpoint can be used' : 'it has no checkpoint';
      const twice = 'Work of the previous agent may be done twice: compare it with what that agent has left';
      const title = `${newAgentId} starts ${taskId} from its beginning: ${why}`;
      const usual = skipped.length > 0 ? 'warning' : 'info';
      return [
        raise(
          LOST,
          { ...about, agentId: newAgentId },
          { usual, title, text: unused === '' ? twice : `${twice}. Not used: ${unused}` },
        ),
      ];
    }
    case 'PROBATION_PASSED':
      return [resolve(LOST, about, `${input.payload.agentId} does well`)];
    // The review that follows in the same decision has its reason, and what people decide.
    case 'RECOVERY_FAILED':
    case 'RECOVERY_REFUSED':
      return [];
    case 'TASK_RELEASED': {
      const { why, detail } = input.payload;
      const text = detail === null ? why : `${why}: ${detail}`;
      const over = [ROUTE, LOST, BLOCKED_ROUTE].map((one) => resolve(one, about, text));
      // Its current assignee may be stuck as well.
      return why === 'reassigned'
        ? over
        : [...over, resolve('stuck_agent', about, text), taskSpent(input.payload.taskId, text)];
    }
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
      return breakerNotices(input.payload);
  }
};

type Review = PayloadOf<typeof Topic.taskRecovery, 'REVIEW_REQUIRED'>;

/** omniclaude's Blocked: the attempts are used up, and the last of them has stalled as well. */
const blockedBy = ({ attempts, of, reason, endedByItself }: Review) =>
  of === null ? null : { attempts: attempts + 1, limit: of, reason, endedByItself };
