import type { Said } from '../announce/events.ts';
import { spentSaid } from '../announce/spending.ts';
import { groupsInWords } from '../judgement/plans.ts';
import type { AgentState, Known, Told } from './state.ts';

/** What has been said. */
export function evolve(state: AgentState, event: Said): AgentState {
  return state.kind === 'unseen' ? state : evolved(state, event);
}

export function evolved(state: Known, event: Said): Known {
  const { told } = state;
  const tell = (more: Partial<Told>): Known => ({ ...state, told: { ...told, ...more } });
  switch (event.type) {
    case 'INSTANCE_STARTED':
      return tell({ life: state.life });
    case 'DUPLICATE_INSTANCE':
      return { ...state, stragglers: state.stragglers && { ...state.stragglers, told: true } };
    case 'AGENT_ANSWERED':
      return { ...state, answers: state.answers.slice(1) };
    case 'BREAKER_RESET_ASKED':
      return { ...state, resets: state.resets.slice(1) };
    case 'HEALTH_STATE_CHANGED':
      return tell(stateSaid(told, event.payload, event.correlationId ?? ''));
    case 'EXEMPTION_CHANGED':
      return tell({ exemption: event.payload.to });
    case 'WAIT_OVERDUE': {
      const { instanceId, taskId, since: at } = event.payload;
      return tell({ wait: { instanceId, taskId, life: state.life, at } });
    }
    case 'WAIT_ENDED':
      return tell({ wait: null });
    case 'WARRANT_FILED':
      return tell({ ...warrantSaid(event), ...episodeNeeded(told, event) });
    case 'WARRANT_RENEWED':
      return tell(warrantSaid(event));
    case 'WARRANT_LAPSED':
      return tell({ warrant: null });
    case 'AGENT_PRESENT':
      return tell({ presentLife: state.life, ...presentSaid(event.payload), lostLife: 0 });
    case 'AGENT_LOST':
      return tell({
        presentLife: 0,
        lostLife: event.payload.why === 'silent' && !event.payload.expected ? state.life : 0,
      });
    case 'AGENT_SPENT': {
      const spent = spentSaid(state, event.payload);
      return spent === undefined ? state : tell({ spent });
    }
    case 'TASK_HEALTH_CHANGED':
      return tell({ task: taskSaid(event.payload) });
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
      return tell({ breakers: breakersSaid(told.breakers, event.payload) });
    case 'WORKER_ESCALATION_TICKET':
      return ticketSaid(state, event.payload);
  }
}

type Of<K extends Said['type']> = Extract<Said, { type: K }>;

function presentSaid({ presentSince, repeatAt }: Of<'AGENT_PRESENT'>['payload']) {
  return { presentSince: presentSince ?? 0, presentUntil: repeatAt ?? 0 };
}

/** An end closes the episode it found; where it found none and is a bad one, it opens one for what follows. */
function stateSaid(told: Told, payload: Of<'HEALTH_STATE_CHANGED'>['payload'], correlationId: string): Partial<Told> {
  const { to, episodeId, taskId } = payload;
  const said = { state: to, under: to === 'HEALTHY' || to === 'TERMINATED' ? null : taskId };
  const over = to === 'HEALTHY' || (to === 'TERMINATED' && told.episode !== null);
  if (over || episodeId === null) return { ...said, episode: null };
  const opened = told.episode === null;
  return {
    ...said,
    episode: told.episode ?? { id: episodeId, correlationId },
    counted: told.counted + (opened ? 1 : 0),
  };
}

/** Its own episode where a bad end closed the one before. */
function episodeNeeded(told: Told, { payload, correlationId }: Of<'WARRANT_FILED'>): Partial<Told> {
  const counted = told.counted + 1;
  if (told.episode || payload.episodeId === null) return { counted };
  return { counted, episode: { id: payload.episodeId, correlationId: correlationId ?? '' } };
}

function warrantSaid({ payload }: Of<'WARRANT_FILED'> | Of<'WARRANT_RENEWED'>): Partial<Told> {
  const { warrantId: id, instanceId, planName: plan, state: found, voidAt } = payload;
  const awaits = groupsInWords(payload.awaits ?? []);
  return { warrant: { id, instanceId, episodeId: payload.episodeId ?? '', plan, state: found, awaits, voidAt } };
}

function breakersSaid(
  told: Told['breakers'],
  { name, to, taskId }: Of<'CIRCUIT_BREAKER_STATE_CHANGED'>['payload'],
): Told['breakers'] {
  const { [name]: _, ...others } = told;
  return to === 'OPEN' || to === 'HALF_OPEN' ? { ...others, [name]: { state: to, taskId } } : others;
}

/** One that somebody filed says nothing about those that are ours to file. */
function ticketSaid(state: Known, { ticket, episodeId }: Of<'WORKER_ESCALATION_TICKET'>['payload']): Known {
  const byHand = state.tickets.findIndex(({ ticket_id }) => ticket_id === ticket.ticket_id);
  if (byHand >= 0) return { ...state, tickets: state.tickets.toSpliced(byHand, 1) };
  const { severity } = ticket;
  if (severity === 'UNKNOWN') return state;
  return { ...state, told: { ...state.told, ticket: { severity, life: state.life, episodeId } } };
}

function taskSaid({ taskId, instanceId, hold, to }: Of<'TASK_HEALTH_CHANGED'>['payload']): Told['task'] {
  return hold === 'left' && to !== 'TERMINATED' ? null : { taskId, instanceId, state: to };
}
