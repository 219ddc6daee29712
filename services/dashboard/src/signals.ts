import { Topic } from '@vigil/events';
import { type AgentState, AT_REST, explain, policiesOf, VOCABULARY } from '@vigil/health';
import { republished } from '@vigil/policy';
import type { ReadModel, SignalsOf } from '@vigil/read-model';
import { type Log, readSnapshot, within } from '@vigil/stream';

/**
 * An explanation does not wait longer for its figures. The watch draws an opened agent after that, and asks again a second
 * later: within five seconds it shows that the broker is away.
 */
export const PATIENCE_MS = 3_000;
const evaluator = { processor: 'health-evaluator', atRest: AT_REST, timeTopic: Topic.agentObservation };

type Read = Pick<Log, 'bounds' | 'read'>;
type Model = Pick<ReadModel, 'policyDocument'>;

/**
 * Each signal of an agent as it stands, and notes on it, from the evaluator's own state and the policy as it was published. null: the
 * policy is unknown, or there is no readable state: the agent is forgotten, the topic does not answer in time, or another version of the evaluator
 * wrote it. While the broker is known to be away, nothing is asked, so that no view waits for it again and again.
 */
export const signalsFrom =
  (log: Read, model: Model, isBrokerAway: () => boolean, onFailure: (error: unknown) => void): SignalsOf =>
  async (agentId) => {
    if (isBrokerAway()) return null;
    return await figures(log, model, agentId).catch((error) => {
      onFailure(error);
      return null;
    });
  };

const figures = async (log: Read, model: Model, agentId: string): ReturnType<SignalsOf> => {
  const read = readSnapshot<AgentState>(log, evaluator, agentId, AbortSignal.timeout(PATIENCE_MS));
  // A broker that stands still does not answer questions about the topic either.
  const found = await within(PATIENCE_MS, read, 'the snapshot of the evaluator');
  if (found === null || found.state.kind === 'unseen') return null;
  const { name, hash } = found.state.policy;
  const document = await model.policyDocument(hash);
  if (document === null) return null;
  const policies = policiesOf([republished(document, VOCABULARY)], name);
  return explain(policies, found.state, found.clock);
};
