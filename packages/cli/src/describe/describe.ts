import { acting } from './acting.ts';
import { health } from './health.ts';

const descriptions = { ...health, ...acting } as Readonly<Record<string, ((payload: never) => string) | undefined>>;

/** An event in words. One that this version has no words for is called by its name. */
export function describeEvent(type: string, payload: unknown): string {
  const description = descriptions[type];
  return description === undefined ? type.toLowerCase().replaceAll('_', ' ') : description(payload as never);
}

type About = { readonly agentId?: unknown; readonly agent_id?: unknown; readonly taskId?: unknown };

/** The subject of an event: an agent, else a task, else the fleet. */
export function subject(payload: unknown): string {
  const { agentId, agent_id, taskId } = payload as About;
  const found = agentId ?? agent_id ?? taskId;
  return typeof found === 'string' ? found : 'fleet';
}
