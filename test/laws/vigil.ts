import type { HealthEvent } from '@vigil/events';
import { agentHealth } from '@vigil/health';
import { consoleOnly } from '../../services/alerting/src/alert/routing.ts';
import { noPolicies } from '../../services/alerting/src/notices/policy-alerts.ts';
import { agentMapper, alertDecider, fleetMapper, taskMapper } from '../../services/alerting/src/processors.ts';
import { evaluator } from '../../services/health-evaluator/src/processor.ts';
import { createIngest } from '../../services/heartbeat-ingest/src/processor.ts';
import { usual } from '../../services/intervention/src/governor/settings.ts';
import { cases, governor } from '../../services/intervention/src/processors.ts';
import { processor as recovery } from '../../services/recovery/src/processor.ts';
import { type AnyProcessor, Log } from './log.ts';
import { type PolicyName, policies } from './policies.ts';

const ingest = createIngest(null);

const HOUR = 3_600_000;
const MOST_AGENTS = 1000;
const forgotten = (processor: unknown): AnyProcessor => processor as AnyProcessor;

const evaluators = new Map<PolicyName, AnyProcessor>();
const evaluatorOf = (name: PolicyName): AnyProcessor => {
  const known = evaluators.get(name);
  if (known) return known;
  const decider = agentHealth(policies[name].judging);
  const made = forgotten({ ...evaluator((() => ({ decider })) as never, MOST_AGENTS), decider });
  evaluators.set(name, made);
  return made;
};

const others: readonly AnyProcessor[] = [
  cases,
  governor({ ...usual, spawnsPerHour: 20 }),
  recovery,
  agentMapper(noPolicies),
  taskMapper(noPolicies),
  fleetMapper(noPolicies),
  alertDecider({ groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 4 * HOUR, routing: consoleOnly }),
].map(forgotten);

/** The processors that judge, act and alert, as their services run them, on a log in memory. */
export const vigil = (policy: PolicyName, now: number, onEvent: (event: HealthEvent) => void): Log =>
  new Log([forgotten(ingest), evaluatorOf(policy), ...others], now, onEvent);
