import { hasQuestions } from '../alert/gates.ts';
import { inWords } from '../notices/notice.ts';

/** The titles of alerts about one agent, for many. */
const OF_MANY: Readonly<Record<string, string>> = {
  stuck_agent: 'are STUCK or FAILING',
  circuit_breaker_open: 'have an open breaker',
  awaiting_input: 'wait for input',
  escalation_ticket: 'have a ticket',
  agent_crashed: 'crashed, and nothing was restarted',
  clock_drift: 'have a wrong clock',
  spending_limit: 'have reached their spending limit',
  warrant_waiting: 'have a warrant that waits for a step',
};

/** `group`: as `groupOf` has it. */
export const groupTitle = (group: string, count: number): string =>
  hasQuestions(group)
    ? `${count} agents wait for a decision`
    : `${count} agents ${OF_MANY[group] ?? `at once: ${inWords(group)}`}`;
