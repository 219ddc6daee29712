import type { Announcement } from '../announce/events.ts';
import { spentAnnounced } from '../announce/spending.ts';
import { isExcused } from '../judgement/excuses.ts';
import { describeGroups } from '../judgement/plans.ts';
import { isWorse } from '../judgement/tickets.ts';
import {
  type AgentState,
  type Announced,
  type AnnouncedTicket,
  type ControlAnswer,
  filedInEpisode,
  type HoldAnswer,
  type KnownAgent,
} from './state.ts';

/** Applies an emitted event. */
export const evolve = (state: AgentState, event: Announcement): AgentState =>
  state.kind === 'unseen' ? state : evolved(state, event);

export const evolved = (state: KnownAgent, event: Announcement): KnownAgent => {
  const { announced } = state;
  const announce = (more: Partial<Announced>): KnownAgent => ({ ...state, announced: { ...announced, ...more } });
  const announcePresence = (more: Partial<Announced>): KnownAgent => {
    const { presentPlace: _, ...others } = announced;
    return { ...state, announced: { ...others, ...more } };
  };
  switch (event.type) {
    case 'INSTANCE_STARTED':
      return announce({ instanceNumber: state.instanceNumber });
    case 'DUPLICATE_INSTANCE':
      return { ...state, stragglers: state.stragglers && { ...state.stragglers, announced: true } };
    case 'AGENT_ANSWERED':
      return { ...state, answers: state.answers.slice(1) };
    case 'BREAKER_RESET_ASKED':
      return { ...state, resets: state.resets.slice(1) };
    case 'HOLD_CHANGED':
    case 'HOLD_REFUSED':
      return withHolds(state, (state.holds ?? []).slice(1));
    case 'CONTROL_APPLIED':
    case 'CONTROL_REFUSED':
      return withControls(state, (state.controls ?? []).slice(1));
    case 'HEALTH_STATE_CHANGED': {
      const changed = announce(stateAnnounced(announced, event.payload, event.correlationId ?? ''));
      // The same words are another answer in another episode.
      return announced.episode === null && changed.announced.episode !== null ? { ...changed, answered: 0 } : changed;
    }
    case 'EXEMPTION_CHANGED':
      return announce({ exemption: event.payload.to });
    case 'WAIT_OVERDUE': {
      const { instanceId, taskId, since: at } = event.payload;
      return announce({ wait: { instanceId, taskId, instanceNumber: state.instanceNumber, at } });
    }
    case 'WAIT_ENDED':
      return announce({ wait: null });
    case 'CLOCK_DRIFTED':
      return announce({ clock: { instanceNumber: state.instanceNumber } });
    case 'CLOCK_DRIFT_ENDED': {
      const { clock: _, ...others } = announced;
      return { ...state, announced: others };
    }
    case 'WARRANT_FILED':
      return announce({ ...warrantAnnounced(event), ...episodeNeeded(announced, event) });
    case 'WARRANT_RENEWED':
      return announce(warrantAnnounced(event));
    case 'WARRANT_LAPSED':
      return announce({ warrant: null });
    case 'AGENT_PRESENT':
      return announcePresence({
        presentInstance: state.instanceNumber,
        presentSince: event.payload.presentSince ?? 0,
        presentUntil: event.payload.repeatAt ?? 0,
        lostInstance: 0,
      });
    case 'AGENT_LOST':
      return announcePresence({
        presentInstance: 0,
        lostInstance: event.payload.why === 'silent' && !event.payload.expected ? state.instanceNumber : 0,
      });
    case 'AGENT_SPENT': {
      const spent = spentAnnounced(state, event.payload);
      return spent === undefined ? state : announce({ spent });
    }
    case 'TASK_HEALTH_CHANGED': {
      const { taskId, instanceId, hold, to } = event.payload;
      return announce({ task: hold === 'left' && to !== 'TERMINATED' ? null : { taskId, instanceId, state: to } });
    }
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
      return announce({ breakers: breakersAnnounced(announced.breakers, event.payload) });
    case 'WORKER_ESCALATION_TICKET':
      return ticketAnnounced(state, event.payload);
  }
};

const withHolds = (state: KnownAgent, holds: readonly HoldAnswer[]): KnownAgent => {
  const { holds: _, ...others } = state;
  return holds.length === 0 ? others : { ...others, holds };
};

const withControls = (state: KnownAgent, controls: readonly ControlAnswer[]): KnownAgent => {
  const { controls: _, ...others } = state;
  return controls.length === 0 ? others : { ...others, controls };
};

type Of<K extends Announcement['type']> = Extract<Announcement, { type: K }>;

/** An end closes the open episode. A bad end without an open episode opens one, for its warrant. */
const stateAnnounced = (
  announced: Announced,
  payload: Of<'HEALTH_STATE_CHANGED'>['payload'],
  correlationId: string,
): Partial<Announced> => {
  const { to, episodeId, taskId } = payload;
  const changed = { state: to, stateTaskId: to === 'HEALTHY' || to === 'TERMINATED' ? null : taskId };
  const over = to === 'HEALTHY' || (to === 'TERMINATED' && announced.episode !== null);
  if (over || episodeId === null) return { ...changed, episode: null };
  const opened = announced.episode === null;
  return {
    ...changed,
    episode: announced.episode ?? { id: episodeId, correlationId },
    issued: announced.issued + (opened ? 1 : 0),
  };
};

/** Opens an episode for the warrant if a bad end has closed the previous one. */
const episodeNeeded = (announced: Announced, { payload, correlationId }: Of<'WARRANT_FILED'>): Partial<Announced> => {
  const issued = announced.issued + 1;
  if (announced.episode || payload.episodeId === null) return { issued };
  return { issued, episode: { id: payload.episodeId, correlationId: correlationId ?? '' } };
};

const warrantAnnounced = ({ payload }: Of<'WARRANT_FILED'> | Of<'WARRANT_RENEWED'>): Partial<Announced> => {
  const { warrantId: id, instanceId, planName: plan, state: found, voidAt } = payload;
  const awaits = describeGroups(payload.awaits ?? []);
  const episodeId = payload.episodeId ?? '';
  const suspendedBy = 'suspendedBy' in payload ? payload.suspendedBy : null;
  const warrant = { id, instanceId, episodeId, plan, state: found, awaits, voidAt };
  return { warrant: suspendedBy === null ? warrant : { ...warrant, suspendedBy } };
};

const breakersAnnounced = (
  announced: Announced['breakers'],
  { name, to, taskId }: Of<'CIRCUIT_BREAKER_STATE_CHANGED'>['payload'],
): Announced['breakers'] => {
  const { [name]: _, ...others } = announced;
  return to === 'OPEN' || to === 'HALF_OPEN' ? { ...others, [name]: { state: to, taskId } } : others;
};

/** A ticket that another program filed does not count as one of Vigil's. */
const ticketAnnounced = (
  state: KnownAgent,
  { ticket, findings, episodeId }: Of<'WORKER_ESCALATION_TICKET'>['payload'],
): KnownAgent => {
  const requested = state.tickets.findIndex(({ ticket_id }) => ticket_id === ticket.ticket_id);
  if (requested >= 0) return { ...state, tickets: state.tickets.toSpliced(requested, 1) };
  const filed = ticket.severity;
  if (filed === 'UNKNOWN') return state;
  const before = filedInEpisode(state);
  const severity = before !== null && isWorse(before.severity, filed) ? before.severity : filed;
  const at = Date.parse(ticket.created_at);
  const excused = isExcused(findings, at);
  const unexcused = excused ? (before?.unexcused ?? null) : filed;
  const dismissedAt = { ...(excused && { [filed]: at }), ...before?.dismissedAt };
  const counted: AnnouncedTicket = {
    severity,
    instanceNumber: state.instanceNumber,
    episodeId,
    ...(unexcused !== severity && { unexcused }),
    ...(Object.keys(dismissedAt).length > 0 && { dismissedAt }),
  };
  return { ...state, announced: { ...state.announced, ticket: counted } };
};
