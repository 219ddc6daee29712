import { type HealthState, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type Announcement, explain, Folding, type Observation, type Policies } from '@vigil/health';
import { at, BARE, call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '@vigil/health/fixture';
import { hashes } from '@vigil/sdk/hashes';
import type { Act, Step } from './peer.ts';

/** The result at a look: the last reported state, the plan that holds, and the words of the firing signals. */
export type Seen = { readonly state: HealthState; readonly plan: string | null; readonly words: readonly string[] };

const GAP_MS = 5_000;
const HEARTBEAT_MS = 30_000;
const AGENT = 'a1';

const known = new Map<string, Policies>();
const policiesFor = (yaml: string): Policies => {
  const policies = known.get(yaml) ?? policyOf(yaml);
  known.set(yaml, policies);
  return policies;
};

/** Folds the steps of one agent as the evaluator does, and records the result at each `look` step and at the end. */
export const replayed = (policy: string, steps: readonly Step[]): readonly Seen[] => {
  const stage = new Stage(policiesFor(policy));
  const seen: Seen[] = [];
  for (const step of steps) {
    if (step.kind === 'look') seen.push(stage.look());
    else stage.take(step);
  }
  return [...seen, stage.look()];
};

/** An example with the given fields. */
const order = <K extends Observation['type']>(type: K, more: object): Observation => {
  const it = example(Topic.agentObservation, type);
  return { ...it, key: AGENT, payload: { ...it.payload, ...more } } as Observation;
};

class Stage {
  readonly #policies: Policies;
  readonly #folding: Folding;
  #ms = 0;
  #calls = 0;
  #state: HealthState = 'HEALTHY';
  #latest: Partial<HeartbeatPayload> = {};

  constructor(policies: Policies) {
    this.#policies = policies;
    this.#folding = new Folding(policies);
  }

  take(step: Exclude<Step, { does: 'look' }>): void {
    switch (step.kind) {
      case 'act':
        this.#act(step.call, step.instance);
        break;
      case 'heartbeat':
        this.#latest = step.heartbeat;
        this.#heartbeat(step.heartbeat);
        break;
      case 'wait':
        if (step.alive) this.#alive(step.ms);
        else this.#passTo(this.#ms + step.ms);
        break;
      case 'hold':
        this.#fold(order('HOLD_AGENT', { agentId: AGENT, until: null }));
        break;
      case 'exit': {
        const ended = { agentId: AGENT, instanceId: 'i1', taskId: 'T-1', runtimeId: 'host-1', orderId: null };
        this.#fold(order('AGENT_EXITED', { ...ended, reason: step.reason }));
        break;
      }
    }
  }

  look(): Seen {
    const state = this.#folding.stateOf(AGENT);
    const explained = state ? explain(this.#policies, state, at(this.#ms)) : null;
    const firing = explained?.signals.filter(({ fires }) => fires) ?? [];
    return { state: this.#state, plan: explained?.plan ?? null, words: firing.map(({ words }) => words) };
  }

  #act({ args = {}, announced, within, ...rest }: Act, instance: string | null): void {
    const { result = '', ...more } = rest;
    const id = `c${this.#calls++}`;
    const running = more.outcome === 'running';
    const one = (outcome: 'ok' | 'error' | 'running') => {
      const now = T0 + this.#ms + GAP_MS;
      const failed = outcome === 'error';
      const made = hashes({ args, failed, endedAt: now, ...(outcome !== 'running' && { result }) });
      const deadline_at = within === undefined ? null : now + within;
      const ended_at = outcome === 'running' ? null : now;
      this.#heartbeat({
        instance_id: instance,
        tool_calls: [call(id, { ...more, ...made, outcome, started_at: now, ended_at, deadline_at })],
      });
    };
    if (announced || running) one('running');
    if (!running) one(more.outcome === 'error' ? 'error' : 'ok');
  }

  #heartbeat(more: Partial<HeartbeatPayload>): void {
    this.#passTo(this.#ms + GAP_MS);
    this.#fold(heartbeat(this.#ms, { agent_id: AGENT, instance_id: 'i1', ...more }));
  }

  /** A runtime that sees the session, its task, and the last report of its activity and output. */
  #alive(ms: number): void {
    const until = this.#ms + ms;
    const { activity = null, output = null, task_id = BARE.task_id } = this.#latest;
    while (this.#ms + HEARTBEAT_MS <= until) {
      this.#passTo(this.#ms + HEARTBEAT_MS);
      this.#fold(
        heartbeat(this.#ms, { agent_id: AGENT, instance_id: 'i1', reporter: 'runtime', task_id, activity, output }),
      );
    }
    this.#passTo(until);
  }

  #passTo(ms: number): void {
    while (this.#folding.dueAt <= T0 + ms)
      this.#receive(this.#folding.fold({ clock: at(this.#folding.dueAt - T0), input: null }).emitted);
    this.#ms = ms;
  }

  #fold(input: Observation): void {
    this.#receive(this.#folding.fold({ clock: at(this.#ms), input: { ...input, key: AGENT } }).emitted);
  }

  #receive(emitted: readonly Announcement[]): void {
    for (const one of emitted) if (one.type === 'HEALTH_STATE_CHANGED') this.#state = one.payload.to;
  }
}
