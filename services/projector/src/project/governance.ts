import type { Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Handlers } from './handlers.ts';
import { journal, journalOnly } from './journal.ts';

export const stepRuling: Handlers<typeof Topic.stepRuling> = { STEP_ADMITTED: journalOnly, STEP_WITHHELD: journalOnly };
export const spawnRuling: Handlers<typeof Topic.spawnRuling> = {
  SPAWN_ADMITTED: journalOnly,
  SPAWN_WITHHELD: journalOnly,
};

export const spending: Handlers<typeof Topic.spending> = {
  SPENDING_LIMIT_REACHED: (event) => [journal(event)],
  SPENDING_LIMIT_LIFTED: (event) => [journal(event)],
};

type Event = PlacedEvent<typeof Topic.fleetGovernance>;
type Of<K extends Event['type']> = Extract<Event, { readonly type: K }>;

export const fleetGovernance: Handlers<typeof Topic.fleetGovernance> = {
  FLEET_HALTED: (event) => [journal(event), halt(event, true)],
  FLEET_RESUMED: (event) => [journal(event), halt(event, false)],
  BRAKE_ENGAGED: (event) => [journal(event), brake(event, event.payload)],
  BRAKE_RELEASED: (event) => [journal(event), brake(event, event.payload)],
  DRY_RUN_CHANGED: (event) => [journal(event), dryRun(event)],
};

function halt(event: Of<'FLEET_HALTED' | 'FLEET_RESUMED'>, halted: boolean): Statement {
  return {
    kind: 'register',
    table: 'fleet',
    key: { fleet_id: event.key },
    group: 'halt',
    order: orderOf(event),
    columns: {
      halted,
      halt_by: event.payload.by,
      halt_why: event.payload.why,
      halt_at: instant(event.occurredAt),
    },
  };
}

type Brake = {
  readonly scope?: string;
  readonly agentIds?: readonly string[];
  readonly by?: string;
  readonly why: string;
};

function brake(event: Of<'BRAKE_ENGAGED' | 'BRAKE_RELEASED'>, details: Brake): Statement {
  return {
    kind: 'register',
    table: 'fleet',
    key: { fleet_id: event.key },
    group: 'brake',
    order: orderOf(event),
    columns: {
      braked: event.type === 'BRAKE_ENGAGED',
      brake_scope: details.scope ?? null,
      brake_agents: details.agentIds ?? [],
      brake_by: details.by ?? null,
      brake_why: details.why,
      brake_at: instant(event.occurredAt),
    },
  };
}

function dryRun(event: Of<'DRY_RUN_CHANGED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'fleet',
    key: { fleet_id: event.key },
    group: 'dry_run',
    order: orderOf(event),
    columns: {
      dry_run: payload.on,
      dry_run_by: payload.by,
      dry_run_why: payload.why,
      dry_run_at: instant(event.occurredAt),
    },
  };
}
