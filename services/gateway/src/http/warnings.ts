import type { Remark } from '@vigil/events';
import { type Assigned, insteadOf, notPermitted, SHORTEST_INTERVAL_MS } from '@vigil/policy';
import type { Policies } from '../state/policies.ts';
import type { Sent } from './body.ts';

/** The largest number of warnings in one answer. */
const MOST_WARNINGS = 20;

const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

const remarkText = (remark: Remark): string => {
  switch (remark.kind) {
    case 'unknown_field':
      return `unknown field ${quoted(remark.path)}, which is left out: ${insteadOf(remark.field, remark.known)}`;
    case 'unknown_word':
      return `${remark.path} is ${quoted(remark.word)}, which counts as unknown: ${insteadOf(remark.word, remark.known)}`;
  }
};

/**
 * A warning about a requested policy that is not published, or that the assignment does not permit. Until the first
 * policy is published none is known to be missing.
 */
export const policyWarnings = (agent: Assigned, policies: Policies): readonly string[] => {
  const served = policies.assignedTo(agent);
  const { requestedPolicy: requested } = agent;
  if (requested === null || served === null || served.name === requested) return [];
  if (policies.find(requested) !== null) return [notPermitted(requested, served.name)];
  const names = policies.names().join(', ');
  return [`policy ${quoted(requested)} does not exist: this agent is judged by ${served.name}; policies: ${names}`];
};

const intervalWarnings = (intervalMs: number | null): readonly string[] =>
  intervalMs === null || intervalMs >= SHORTEST_INTERVAL_MS
    ? []
    : [`interval_ms is ${intervalMs}: write at least ${SHORTEST_INTERVAL_MS}, a heartbeat a second`];

/** Only these reports of an agent without a runtime are its end. */
const OWN_ENDS: ReadonlySet<string> = new Set(['finished', 'explicit']);

const exitWarnings = ({ exit, runtime_id: runtimeId }: Sent['heartbeat']): readonly string[] => {
  if (exit === null || runtimeId !== null || OWN_ENDS.has(exit.reason)) return [];
  return [
    `exit.reason ${exit.reason} ends no agent without a runtime: finished and explicit do, and a person can confirm its death`,
  ];
};

const warningsOf = ({ heartbeat, remarks }: Sent, policies: Policies): readonly string[] => {
  const { agent_id: agentId, labels, policy, interval_ms: intervalMs } = heartbeat;
  return [
    ...policyWarnings({ agentId, labels, requestedPolicy: policy }, policies),
    ...remarks.map(remarkText),
    ...intervalWarnings(intervalMs),
    ...exitWarnings(heartbeat),
  ];
};

/** What its sender should correct in heartbeats that were taken all the same. In a list each warning names its heartbeat. */
export const warningsFor = (sent: readonly Sent[], isList: boolean, policies: Policies): readonly string[] => {
  const all = sent.flatMap((one, index) => {
    const place = isList ? `heartbeat [${index}] of ${one.heartbeat.agent_id}: ` : '';
    return warningsOf(one, policies).map((warning) => place + warning);
  });
  if (all.length <= MOST_WARNINGS) return all;
  return [...all.slice(0, MOST_WARNINGS), `and ${all.length - MOST_WARNINGS} more warnings`];
};
