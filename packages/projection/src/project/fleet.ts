import type { Topic } from '@vigil/events';
import { fact, register, type Statement } from '@vigil/read-model';
import { type Handlers, journal, journalOnly, type Placed, prefixed } from './handlers.ts';

export const stepRuling: Handlers<typeof Topic.stepRuling> = { STEP_ADMITTED: journalOnly, STEP_WITHHELD: journalOnly };
export const spawnRuling: Handlers<typeof Topic.spawnRuling> = {
  SPAWN_ADMITTED: journalOnly,
  SPAWN_WITHHELD: journalOnly,
};

export const spending: Handlers<typeof Topic.spending> = {
  SPENDING_LIMIT_REACHED: journalOnly,
  SPENDING_LIMIT_LIFTED: journalOnly,
};

type Governance = typeof Topic.fleetGovernance;

export const fleetGovernance: Handlers<Governance> = {
  FLEET_HALTED: (event) => [journal(event), halt(event, true)],
  FLEET_RESUMED: (event) => [journal(event), halt(event, false)],
  BRAKE_ENGAGED: (event) => [journal(event), brake(event, event.payload)],
  BRAKE_RELEASED: (event) => [journal(event), brake(event, event.payload)],
  DRY_RUN_CHANGED: (event) => [
    journal(event),
    register(event, 'fleet', 'dry_run', {
      fleetId: event.key,
      ...prefixed('dryRun', event.payload),
      dryRun: event.payload.on,
      dryRunAt: event.occurredAt,
    }),
  ],
};

const halt = (event: Placed<Governance, 'FLEET_HALTED' | 'FLEET_RESUMED'>, halted: boolean): Statement => {
  const values = { fleetId: event.key, ...prefixed('halt', event.payload), halted, haltAt: event.occurredAt };
  return register(event, 'fleet', 'halt', values);
};

type Brake = {
  readonly scope?: string;
  readonly agentIds?: readonly string[];
  readonly by?: string;
  readonly why: string;
};

const brake = (event: Placed<Governance, 'BRAKE_ENGAGED' | 'BRAKE_RELEASED'>, details: Brake): Statement =>
  register(event, 'fleet', 'brake', {
    fleetId: event.key,
    braked: event.type === 'BRAKE_ENGAGED',
    brakeScope: details.scope ?? null,
    brakeAgents: details.agentIds ?? [],
    brakeBy: details.by ?? null,
    brakeWhy: details.why,
    brakeAt: event.occurredAt,
  });

export const policy: Handlers<typeof Topic.policy> = {
  POLICY_PUBLISHED: ({ payload, occurredAt }) => [
    fact('policies', { ...payload, publishedBy: payload.by, publishedAt: occurredAt }),
  ],
  POLICY_REFUSED: ({ key, payload, causationId, occurredAt }) => [
    fact('policy_refusals', {
      ...payload,
      refusalId: key,
      commandId: causationId,
      refusedBy: payload.by,
      refusedAt: occurredAt,
    }),
  ],
};
