import type { Alert } from './alert-state.ts';
import { type Content, questionOf } from './content.ts';
import type { Open } from './due.ts';
import { DEFAULT, type Routing } from './routing.ts';

type Since = 'channels' | 'onTimeout' | 'checkpoint' | 'blocked';
type Older = Omit<Open, 'toldTo' | 'asked' | 'content'> & { readonly content: Omit<Content, Since> };

/** An alert that was raised before there were channels: those who have heard of it were the default ones. */
export function upgraded(alert: Alert, { defaults }: Routing): Alert {
  if (alert.open === null || 'toldTo' in alert.open) return alert;
  const older: Older = alert.open;
  const unsaid = { channels: [DEFAULT], onTimeout: null, checkpoint: null, blocked: null };
  const content = { ...older.content, ...unsaid };
  const told = older.toldAs === null ? { toldTo: [], asked: null } : { toldTo: defaults, asked: questionOf(content) };
  return { ...alert, open: { ...older, content, ...told } };
}

type Named = Omit<Alert, 'agents'> & { readonly agents?: readonly string[] };

/** Before shape 6 only the names of those for whom it was open were kept. */
export function withTimes(alert: Alert): Alert {
  const { agents = [], ...rest } = alert as unknown as Named;
  if (agents.length === 0) return rest;
  return { ...rest, agents: agents.map((agentId) => ({ agentId, times: rest.times, isOpen: true })) };
}
