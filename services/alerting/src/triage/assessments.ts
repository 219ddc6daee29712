import { type Draft, type EventOf, Topic } from '@vigil/events';
import { type Log, type ReactorOptions, runReactor } from '@vigil/stream';
import { mayChange } from '../alert/assessment.ts';
import { askModel, type TriageModel } from './model.ts';

type Input = EventOf<typeof Topic.notify>;
type Assess = Draft<typeof Topic.notify>;

/** A ticket that is older when it is read is not assessed: its alert has been delivered since. Milliseconds. */
const OLDEST_MS = 300_000;
const MAX_IN_FLIGHT = 4;

type AssessmentDeps = Pick<ReactorOptions<typeof Topic.notify, typeof Topic.notify>, 'now' | 'logger' | 'count'>;

/**
 * Asks the model about a ticket whose decision is recorded, and returns its answer as a command. The request is
 * sent again only where the process ends before the answer is written.
 */
export const assess =
  (model: TriageModel, now: () => number) =>
  async ({ type, payload, occurredAt, correlationId, policy }: Input): Promise<readonly Assess[]> => {
    if (type !== 'NOTIFY') return [];
    const { action, ticket, filed, alertKey, agentId, taskId } = payload;
    if (ticket === null || filed === null || (action !== 'raise' && action !== 'dismiss')) return [];
    const change = mayChange({ ticket, ruling: action });
    const since = now();
    if (change === null || since - occurredAt > OLDEST_MS) return [];
    const { ticket_id, analysis } = ticket;
    const answer = await askModel(model, { ticket: filed, ruling: action, analysis, change });
    const about = { alertKey, agentId, taskId, ticket_id, model: model.name };
    const assessment = { ...about, ...answer, durationMs: now() - since };
    return [{ topic: Topic.notify, type: 'ASSESS_TICKET', key: alertKey, correlationId, policy, payload: assessment }];
  };

/** Without a model nothing is asked. */
export const runAssessments = async (log: Log, model: TriageModel | null, deps: AssessmentDeps) =>
  model === null
    ? { ready: () => true, status: () => [], [Symbol.asyncDispose]: async () => {} }
    : runReactor<typeof Topic.notify, typeof Topic.notify>(log, {
        ...{ group: 'alerting-triage', service: 'alerting', reads: [Topic.notify], maxInFlight: MAX_IN_FLIGHT },
        react: assess(model, deps.now),
        ...deps,
      });
