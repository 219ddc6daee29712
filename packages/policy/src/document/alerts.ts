import { z } from 'zod';
import { duration } from '../values/duration-type.ts';
import { insteadOf } from '../values/spelling.ts';

/**
 * The routes of alerts that a policy can turn off. Where one of them asks for a decision, the question stays in the
 * inbox.
 */
export const ROUTES_TO_TURN_OFF = [
  'stuck_agent',
  'escalation_ticket',
  'awaiting_input',
  'circuit_breaker_open',
  'recovery_failed',
  'checkpoint_lost',
  'spending_limit',
  'clock_drift',
  'agent_crashed',
  'warrant_waiting',
] as const;

/** Only its alert shows that the task waits for a person. */
const BLOCKED = 'task_blocked';

/** What a policy sets for a route of alerts; false: no one is notified. */
export const alertRoute = z.union([
  z.literal(false),
  z.strictObject({
    severity: z.enum(['info', 'warning', 'critical']),
    channels: z.array(z.string()).default([]),
    group_wait: duration.nullable().default(null),
    repeat: duration.nullable().default(null),
  }),
]);

/** Mistakes in routes that are turned off. */
export const wrongRoutes = (
  alerts: Readonly<Record<string, z.output<typeof alertRoute>>>,
  hasTickets: boolean,
): readonly string[] =>
  Object.entries(alerts).flatMap(([route, settings]) => {
    const why = settings === false ? wrongToTurnOff(route, hasTickets) : null;
    return why === null ? [] : [`alerts.${route}: ${why}`];
  });

const wrongToTurnOff = (route: string, hasTickets: boolean): string | null => {
  if (route === BLOCKED)
    return 'false: only this alert shows that a task waits for a person: write its severity and channels';
  if (!ROUTES_TO_TURN_OFF.some((one) => one === route))
    return `false: no policy has this route: ${insteadOf(route, ROUTES_TO_TURN_OFF)}`;
  if (route === 'escalation_ticket' && hasTickets)
    return 'false: no one would get the tickets that this policy files: write a severity, or remove the section ticket';
  return null;
};
