import { type HealthEvent, Topic } from '@vigil/events';
import { randomFrom } from './world-agents.ts';

const MINUTE = 60_000;
const TOOLS = ['Read', 'Edit', 'Bash', 'Grep'];

/** The heartbeats of an agent that worked for a while, had its context compacted, and then became silent. */
export const heartbeatsOf = (agentId: string, now: number): readonly HealthEvent[] => {
  const random = randomFrom(11);
  const events: object[] = [];
  const began = now - 94 * MINUTE;
  for (let at = began, i = 0; at < now - 9 * MINUTE; at += MINUTE + random() * 2 * MINUTE, i++) {
    const lasts = 5000 + random() * 80_000;
    const used = 60_000 + ((i * 4200) % 130_000);
    const call = {
      ...{ call_id: `c-${i}`, kind: 'tool', tool: TOOLS[i % TOOLS.length], started_at: at - lasts, ended_at: at },
      outcome: random() < 0.12 ? 'error' : 'ok',
    };
    events.push({
      ...{ topic: Topic.agentObservation, type: 'AGENT_HEARTBEAT', occurredAt: at },
      payload: {
        agent_id: agentId,
        timestamp: at,
        tool_calls: [call],
        context: { tokens_used: used, tokens_max: 200_000 },
      },
    });
  }
  return events as HealthEvent[];
};
