import { type EventOf, Topic } from '@vigil/events';
import { example, EXAMPLE_TIME as START } from '@vigil/events/examples';
import { readAtRest, shapeOf } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAgentRequests, type RequestStatus } from '../../services/gateway/src/state/agent-requests.ts';
import { agentRequests } from '../../services/intervention/src/processors.ts';
import { type RequestDraft, type RequestsState, requests } from '../../services/intervention/src/requests/requests.ts';

const AGENTS = ['worker-1', 'worker-2'];
const CHANNELS = ['page', 'phone', 'cli'];
const OPTIONS = ['allow', 'deny'];
const LIFE_MS = 20_000;
const QUESTION = {
  ...{ name: 'Deploy', header: 'Deploy', text: 'Deploy now?', isMultiple: false },
  options: OPTIONS.map((label) => ({ label, description: null, preview: null })),
};
/** An answer by an option, or by a label of the question. */
const answerBy = (value: string, isQuestion: boolean) =>
  isQuestion
    ? { option: '', answers: [{ question: QUESTION.name, labels: [value], text: null }] }
    : { option: value, answers: [] };

type Input = Parameters<typeof requests.observe>[1];
type Step =
  | { readonly kind: 'ask'; readonly agent: string }
  | {
      readonly kind: 'answer';
      readonly nth: number;
      readonly option: string;
      readonly by: string;
      readonly wrong: boolean;
    }
  | { readonly kind: 'again' }
  | { readonly kind: 'poll'; readonly nth: number; readonly gateway: number }
  | { readonly kind: 'end'; readonly nth: number }
  | { readonly kind: 'next_instance'; readonly agent: string }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'restart_decider' }
  | { readonly kind: 'restart_gateway'; readonly gateway: number; readonly backwards: boolean }
  | { readonly kind: 'read'; readonly gateway: number; readonly records: number };

/** A hook that waits. It ends with the first end of its request that it is shown. */
type Hook = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: string;
  readonly deadlineAt: number;
  /** its request is a question that no option answers */
  readonly isQuestion: boolean;
  hasEnded: boolean;
  readonly applied: Extract<RequestStatus, { readonly kind: 'answered' }>[];
};
type Sent = Extract<EventOf<typeof Topic.handleRequest>, { type: 'ANSWER_REQUEST' }> & { readonly at: number };
type Answered = Extract<RequestDraft, { type: 'REQUEST_ANSWERED' }>;

/** A decider, two gateways that read its events at their own pace, hooks, and people on three channels. */
class Story {
  now = START;
  readonly states = new Map<string, RequestsState>();
  readonly instances = new Map(AGENTS.map((agent) => [agent, 1]));
  readonly events: RequestDraft[] = [];
  readonly hooks: Hook[] = [];
  readonly sent: Sent[] = [];
  readonly gateways = [0, 1].map(() => ({ requests: createAgentRequests(10_000), readTo: 0 }));

  instanceOf(agent: string): string {
    return `${agent}.i${this.instances.get(agent)}`;
  }

  /** As the runner decides: at once with each input, and at deadlines without one. */
  decide(agent: string, input: Input | null): void {
    const clock = { now: this.now, watched: this.now, ingresses: {} };
    let state = this.states.get(agent) ?? requests.initial;
    if (input !== null) state = requests.observe(state, input, clock);
    for (const event of requests.decide(state, clock, input)) {
      state = requests.evolve(state, event, clock, input);
      this.events.push(event);
    }
    this.states.set(agent, state);
  }

  /** A gateway has read so many more records, or all of them in another order. */
  read(gateway: number, records: number, backwards = false): void {
    const one = this.gateways[gateway];
    if (one === undefined) return;
    const to = Math.min(this.events.length, one.readTo + records);
    const range = Array.from({ length: to - one.readTo }, (_, n) => one.readTo + n);
    for (const offset of backwards ? range.reverse() : range)
      one.requests.observe(this.events[offset] as EventOf<typeof Topic.agentRequest>, offset);
    one.readTo = to;
  }

  poll(hook: Hook, gateway: number): void {
    const status = this.gateways[gateway]?.requests.find(hook.requestId) ?? null;
    if (hook.hasEnded || status === null || status.kind === 'open') return;
    hook.hasEnded = true;
    if (status.kind === 'answered') hook.applied.push(status);
  }

  answer(hook: Hook, option: string, by: string, wrong: boolean): void {
    const other = wrong ? `${hook.agentId}.i0` : hook.instanceId;
    const why = `answer ${this.sent.length}`;
    const { requestId, agentId, isQuestion } = hook;
    const payload = { requestId, agentId, instanceId: other, ...answerBy(option, isQuestion), by, why };
    const command = example(Topic.handleRequest, 'ANSWER_REQUEST', payload);
    this.sent.push({ ...command, at: this.now } as Sent);
    this.decide(hook.agentId, command as Input);
  }

  play(step: Step): void {
    switch (step.kind) {
      case 'ask': {
        const requestId = `r-${this.hooks.length}`;
        const instanceId = this.instanceOf(step.agent);
        const deadlineAt = this.now + LIFE_MS;
        const isQuestion = this.hooks.length % 2 === 1;
        const hook = { requestId, agentId: step.agent, instanceId, deadlineAt, isQuestion };
        this.hooks.push({ ...hook, hasEnded: false, applied: [] });
        const choices = isQuestion ? [] : OPTIONS.map((name) => ({ name, label: name }));
        const questions = isQuestion ? [QUESTION] : [];
        const who = { requestId, agentId: step.agent, instanceId };
        const asked = { ...who, choices, questions, deadlineAt, heldBy: 'gateway:a' };
        this.decide(step.agent, example(Topic.handleRequest, 'OPEN_REQUEST', asked) as Input);
        return;
      }
      case 'answer': {
        // The newest hooks wait, most of the older ones have ended.
        const hook = this.hooks.at(-1 - (step.nth % 6));
        if (hook !== undefined) this.answer(hook, step.option, step.by, step.wrong);
        return;
      }
      case 'again': {
        // A channel that did not see the confirmation sends the same answer once more.
        const last = this.sent.at(-1);
        if (last === undefined) return;
        this.sent.push({ ...last, at: this.now });
        this.decide(last.payload.agentId, last);
        return;
      }
      case 'poll': {
        const hook = this.hooks.at(-1 - (step.nth % 6));
        if (hook !== undefined) this.poll(hook, step.gateway);
        return;
      }
      case 'end': {
        const hook = this.hooks.at(-1 - (step.nth % 6));
        if (hook === undefined || hook.hasEnded) return;
        hook.hasEnded = true;
        const { requestId, agentId } = hook;
        this.decide(agentId, example(Topic.handleRequest, 'WITHDRAW_REQUEST', { requestId, agentId }) as Input);
        return;
      }
      case 'next_instance': {
        const previousInstanceId = this.instanceOf(step.agent);
        this.instances.set(step.agent, (this.instances.get(step.agent) ?? 0) + 1);
        const started = { agentId: step.agent, instanceId: this.instanceOf(step.agent), previousInstanceId };
        this.decide(step.agent, example(Topic.agentHealth, 'INSTANCE_STARTED', started) as Input);
        return;
      }
      case 'pass':
        this.now += step.ms;
        for (const [agent, state] of this.states)
          if (requests.dueAt(state, { now: this.now, watched: this.now, ingresses: {} }) <= this.now)
            this.decide(agent, null);
        return;
      case 'restart_decider':
        for (const [agent, state] of this.states)
          this.states.set(
            agent,
            readAtRest(agentRequests.atRest, shapeOf(agentRequests.atRest), JSON.stringify(state)),
          );
        return;
      case 'restart_gateway':
        this.gateways[step.gateway] = { requests: createAgentRequests(10_000), readTo: 0 };
        this.read(step.gateway, this.events.length, step.backwards);
        return;
      case 'read':
        this.read(step.gateway, step.records);
    }
  }

  /** All is read, and each hook polls both gateways once more. */
  finish(): void {
    for (const gateway of [0, 1]) this.read(gateway, this.events.length);
    for (const hook of this.hooks) for (const gateway of [0, 1]) this.poll(hook, gateway);
  }
}

const agent = fc.constantFrom(...AGENTS);
const nth = fc.nat({ max: 5 });
const gateway = fc.nat({ max: 1 });
const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
const steps = fc.array(
  fc.oneof(
    weighted(5, fc.record({ kind: fc.constant('ask' as const), agent })),
    weighted(
      8,
      fc.record({
        kind: fc.constant('answer' as const),
        nth,
        option: fc.constantFrom(...OPTIONS, 'always'),
        by: fc.constantFrom(...CHANNELS),
        wrong: fc.nat({ max: 3 }).map((one) => one === 0),
      }),
    ),
    weighted(2, fc.constant({ kind: 'again' as const })),
    weighted(6, fc.record({ kind: fc.constant('poll' as const), nth, gateway })),
    weighted(1, fc.record({ kind: fc.constant('end' as const), nth })),
    weighted(1, fc.record({ kind: fc.constant('next_instance' as const), agent })),
    weighted(3, fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: LIFE_MS }) })),
    weighted(1, fc.constant({ kind: 'restart_decider' as const })),
    weighted(1, fc.record({ kind: fc.constant('restart_gateway' as const), gateway, backwards: fc.boolean() })),
    weighted(4, fc.record({ kind: fc.constant('read' as const), gateway, records: fc.nat({ max: 8 }) })),
  ),
  { minLength: 200, maxLength: 300 },
);

const played = (all: readonly Step[]): Story => {
  const story = new Story();
  for (const step of all) story.play(step);
  story.finish();
  return story;
};

const isAnswered = (event: RequestDraft): event is Answered => event.type === 'REQUEST_ANSWERED';

/** Every answer that a hook has applied is the one that was accepted for its request, and no other. */
const check = ({ hooks, events, sent }: Story): { applied: number; accepted: number; answers: number } => {
  const accepted = events.filter(isAnswered);
  expect(new Set(accepted.map(({ payload }) => payload.requestId)).size, 'one answer a request').toBe(accepted.length);
  for (const { payload } of accepted) {
    const hook = hooks.find(({ requestId }) => requestId === payload.requestId);
    const command = sent.find((one) => one.payload.why === payload.why);
    expect(command?.payload, 'the answer was given to this request').toMatchObject({
      ...{ requestId: hook?.requestId, instanceId: hook?.instanceId, answers: payload.answers, by: payload.by },
      option: hook?.isQuestion ? '' : payload.option,
    });
    expect(command?.at, 'before its deadline').toBeLessThan(hook?.deadlineAt ?? 0);
    const [value] = payload.answers.flatMap(({ labels }) => labels);
    expect(OPTIONS).toContain(hook?.isQuestion ? value : payload.option);
  }
  for (const { requestId, applied } of hooks) {
    expect(applied.length, 'applied once').toBeLessThanOrEqual(1);
    const [one] = applied;
    if (one === undefined) continue;
    const decided = accepted.find(({ payload }) => payload.requestId === requestId);
    expect(decided?.payload).toMatchObject({ option: one.option, answers: one.answers, by: one.by, why: one.why });
  }
  const refused = events.filter(({ type }) => type === 'ANSWER_REFUSED');
  expect(accepted.length + refused.length, 'each answer is accepted or refused').toBe(sent.length);
  const applied = hooks.reduce((sum, hook) => sum + hook.applied.length, 0);
  return { applied, accepted: accepted.length, answers: sent.length };
};

test('of a thousand answers through restarts, races and deadlines, none is applied twice, to another request, or to another instance', () => {
  const total = { applied: 0, accepted: 0, answers: 0 };
  fc.assert(
    fc.property(steps, (all) => {
      const { applied, accepted, answers } = check(played(all));
      total.applied += applied;
      total.accepted += accepted;
      total.answers += answers;
    }),
    { numRuns: 60 },
  );
  expect(total.answers).toBeGreaterThan(1000);
  // The stories would prove nothing if nothing were applied.
  expect(total.applied).toBeGreaterThan(100);
  expect(total.accepted).toBeGreaterThan(total.applied);
});
