import type { HealthEvent, HealthState } from '@vigil/events';

export type Seen = { readonly agentId: string; readonly taskId: string; readonly firstAt: number; lastAt: number };
export type KnownEnd = {
  readonly reason: string;
  readonly orderId: string | null;
  readonly at: number;
  /** whether a person reported it, without proof */
  readonly byPerson: boolean;
  /** whether the task needs no further agent, because it is done or a person has stopped its agent */
  readonly isIntended: boolean;
};
export type OpenAlert = {
  readonly taskId: string | null;
  readonly route: string;
  readonly raisedAt: number;
  isNotified: boolean;
};
export type OpenCase = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly planName: string;
  readonly by: string | null;
  readonly openedAt: number;
  options: readonly string[];
};

const RECOVERED_BY_HAND = 'by hand: terminate_and_recover';

/** The facts of the log for the laws. It decides nothing. */
export class Facts {
  readonly seen = new Map<string, Seen>();
  /** finished tasks, also of agents without a heartbeat */
  readonly finished = new Set<string>();
  readonly ended = new Map<string, KnownEnd>();
  /** instances that a person reported dead, with the time, until they are back */
  readonly #takenForDeadAt = new Map<string, number>();
  readonly states = new Map<string, HealthState>();
  readonly held = new Set<string>();
  /** when a person last released it */
  readonly releasedAt = new Map<string, number>();
  readonly alerts = new Map<string, OpenAlert>();
  readonly cases = new Map<string, OpenCase>();
  /** when people were last notified of an alert of a task that is not over */
  readonly notifiedAt = new Map<string, number>();
  /** the end of the last open alert that people have received, by task */
  readonly notifiedUntil = new Map<string, number>();
  readonly reviews = new Set<string>();
  readonly initiated = new Map<string, number>();
  /** when a person last requested its recovery, or decided to continue */
  readonly asked = new Map<string, number>();
  readonly released = new Map<string, { readonly why: string; readonly at: number }>();
  /** requested orders of people without a replacement */
  readonly ordersOfPeople = new Set<string>();
  readonly #handingOffOnRequest = new Set<string>();
  /** instances whose end a person has ordered without a replacement */
  readonly stopping = new Set<string>();
  missing: readonly string[] = [];
  isBraked = false;
  isHalted = false;
  /** whether a person has requested a halt that a stalled governor has not read yet */
  isHaltRequested = false;
  haltedUntil = 0;

  observe(event: HealthEvent, now: number) {
    switch (event.type) {
      case 'AGENT_HEARTBEAT':
        return this.#heartbeat(event.payload, now);
      case 'AGENT_EXITED': {
        if (event.topic !== 'onex.evt.heartbeat-ingest.agent-observation.v1') return;
        const { instanceId, reason, orderId, taskId } = event.payload;
        if (reason === 'finished' && taskId !== null) this.finished.add(taskId);
        const known = this.ended.get(instanceId);
        // It was assumed dead, and had finished its task.
        if (known && !(known.byPerson && reason === 'finished')) return;
        const isIntended = this.#isIntended(instanceId, reason, orderId);
        const at = this.#takenForDeadAt.get(instanceId) ?? now;
        this.ended.set(instanceId, { reason, orderId, at, byPerson: false, isIntended });
        return;
      }
      case 'CONFIRM_DEATH': {
        if (event.topic !== 'onex.evt.heartbeat-ingest.agent-observation.v1') return;
        const { instanceId } = event.payload;
        const isIntended = this.stopping.has(instanceId ?? '');
        if (instanceId === null || this.ended.has(instanceId)) return;
        this.ended.set(instanceId, { reason: 'lost', orderId: null, at: now, byPerson: true, isIntended });
        this.#takenForDeadAt.set(instanceId, now);
        return;
      }
      case 'HOLD_CHANGED': {
        const { agentId, held } = event.payload;
        if (held) this.held.add(agentId);
        else {
          this.held.delete(agentId);
          this.releasedAt.set(agentId, now);
        }
        return;
      }
      case 'HEALTH_STATE_CHANGED': {
        const { agentId, instanceId, to } = event.payload;
        this.states.set(agentId, to);
        if (to !== 'TERMINATED' && instanceId !== null) this.#takenForDeadAt.delete(instanceId);
        return;
      }
      default:
        this.#ofCases(event, now);
        this.#ofTasks(event, now);
        this.#ofFleet(event, now);
    }
  }

  #heartbeat({ agent_id: agentId, instance_id: instanceId, task_id: taskId }: HeartbeatPayload, now: number) {
    if (instanceId === null || taskId === null) return;
    const known = this.seen.get(instanceId);
    if (known) known.lastAt = now;
    else this.seen.set(instanceId, { agentId, taskId, firstAt: now, lastAt: now });
    // It was reported dead without proof, but runs.
    if (this.ended.get(instanceId)?.byPerson) this.ended.delete(instanceId);
  }

  #isIntended(instanceId: string, reason: string, orderId: string | null): boolean {
    if (reason === 'finished' || this.stopping.has(instanceId)) return true;
    // A handoff by hand replaces that of the plan. It is the person's intention, even if the agent answers the other one.
    return (
      reason === 'explicit' &&
      (orderId === null || this.ordersOfPeople.has(orderId) || this.#handingOffOnRequest.has(instanceId))
    );
  }

  #ofCases(event: HealthEvent, now: number) {
    switch (event.type) {
      case 'CASE_OPENED': {
        const { caseId, agentId, instanceId, planName, requestedBy: by } = event.payload;
        this.cases.set(caseId, { caseId, agentId, instanceId, planName, by, openedAt: now, options: [] });
        return;
      }
      case 'ESCALATION_TRIGGERED':
        return this.#ask(event.payload.caseId, event.payload.options);
      case 'ESCALATION_DECIDED':
        return this.#ask(event.payload.caseId, []);
      case 'CASE_CLOSED':
        this.cases.delete(event.payload.caseId);
        return;
      case 'TERMINATE_AGENT':
      case 'HANDOFF_AGENT': {
        const { caseId, orderId, instanceId } = event.payload;
        const known = this.cases.get(caseId ?? '');
        if (!known?.by || known.by === 'recovery' || known.planName === RECOVERED_BY_HAND) return;
        this.ordersOfPeople.add(orderId);
        if (event.type === 'HANDOFF_AGENT' && instanceId !== null) this.#handingOffOnRequest.add(instanceId);
        if (event.type === 'TERMINATE_AGENT') this.stopping.add(instanceId ?? '');
        return;
      }
    }
  }

  #ask(caseId: string, options: readonly string[]) {
    const known = this.cases.get(caseId);
    if (known) known.options = options;
  }

  #ofTasks(event: HealthEvent, now: number) {
    switch (event.type) {
      case 'RECOVERY_INITIATED':
        this.initiated.set(event.payload.taskId, now);
        return;
      case 'RECOVER_TASK':
        if (event.payload.by !== null) this.asked.set(event.payload.taskId, now);
        return;
      case 'REVIEW_REQUIRED':
        this.reviews.add(event.payload.taskId);
        return;
      case 'REVIEW_DECIDED':
        this.reviews.delete(event.payload.taskId);
        if (event.payload.decision !== 'abandon') this.asked.set(event.payload.taskId, now);
        return;
      case 'RECOVERY_COMPLETED':
        this.reviews.delete(event.payload.taskId);
        return;
      case 'TASK_RELEASED':
        this.reviews.delete(event.payload.taskId);
        this.released.set(event.payload.taskId, { why: event.payload.why, at: now });
        return;
    }
  }

  #ofFleet(event: HealthEvent, now: number) {
    switch (event.type) {
      case 'ALERT_RAISED':
      case 'ALERT_UPDATED': {
        const { alertKey, taskId, route, deliverAt } = event.payload;
        const known = this.alerts.get(alertKey) ?? { taskId, route, raisedAt: now, isNotified: false };
        if (deliverAt !== null) {
          known.isNotified = true;
          this.notifiedAt.set(taskId ?? '', now);
        }
        this.alerts.set(alertKey, known);
        return;
      }
      case 'ALERT_RESOLVED': {
        const { alertKey, taskId } = event.payload;
        if (taskId !== null && this.alerts.get(alertKey)?.isNotified) this.notifiedUntil.set(taskId, now);
        this.alerts.delete(alertKey);
        return;
      }
      case 'BRAKE_ENGAGED':
        this.isBraked = true;
        this.missing = [...this.missing, ...event.payload.agentIds];
        return;
      case 'AGENT_LOST':
        // The brake may also wait for an agent that is lost while it is on.
        if (this.isBraked && !event.payload.expected) this.missing = [...this.missing, event.payload.agentId];
        return;
      case 'BRAKE_RELEASED':
        this.isBraked = false;
        this.missing = [];
        return;
      case 'HALT_FLEET':
        this.isHaltRequested = true;
        return;
      case 'RESUME_FLEET':
        this.isHaltRequested = false;
        return;
      case 'FLEET_HALTED':
        this.isHalted = true;
        return;
      case 'FLEET_RESUMED':
        this.isHalted = false;
        this.haltedUntil = now;
        return;
    }
  }
}

type HeartbeatPayload = Extract<HealthEvent, { readonly type: 'AGENT_HEARTBEAT' }>['payload'];
