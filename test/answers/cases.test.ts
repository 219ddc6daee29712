import { type PayloadOf, Topic } from '@vigil/events';
import { example, EXAMPLE_TIME as START } from '@vigil/events/examples';
import { readAtRest } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AT_REST } from '../../services/intervention/src/case/at-rest.ts';
import { decider } from '../../services/intervention/src/case/case.ts';
import type { CaseDraft, CaseInput, CaseState } from '../../services/intervention/src/case/state.ts';
import {
  answers,
  decides,
  escalate,
  filed,
  lapsed,
  MIN,
  recover,
  terminate,
} from '../../services/intervention/src/case/story.fixture.ts';

const CHANNELS = ['link', 'page', 'cli'];
const OFFERED = ['allow_more_time', 'force_handoff', 'terminate_and_recover'] as const;
const DECISIONS = [...OFFERED, 'pardon'] as const;
const DAY = 24 * 60 * MIN;

type Step =
  | { readonly kind: 'find'; readonly holds: boolean }
  | { readonly kind: 'progress' }
  | { readonly kind: 'words' }
  | {
      readonly kind: 'answer';
      /** of the questions that were put, the newest is 0 */
      readonly nth: number;
      readonly decision: (typeof DECISIONS)[number];
      readonly by: string;
      readonly forMs: number;
    }
  | { readonly kind: 'again' }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'restart' };

type Asked = PayloadOf<typeof Topic.agentIntervention, 'ESCALATION_TRIGGERED'>;

/** The case of an agent, and people who answer what they have seen, which may be long over. */
class Story {
  now = START;
  state: CaseState = decider.initial;
  readonly events: CaseDraft[] = [];
  readonly sent: CaseInput[] = [];
  warrants = 0;

  /** As the runner decides. Only soft steps are admitted: a decided end waits, and the agent stays. */
  decide(input: CaseInput | null): readonly CaseDraft[] {
    const clock = { now: this.now, watched: this.now, ingresses: {} };
    let state = input === null ? this.state : decider.observe(this.state, input, clock);
    const drafts = decider.decide(state, clock, input);
    for (const draft of drafts) state = decider.evolve(state, draft, clock, input);
    this.state = state;
    this.events.push(...drafts);
    for (const draft of drafts)
      if (draft.type === 'ADMIT_STEP' && draft.payload.class === 'soft') {
        const { requestId, caseId, step } = draft.payload;
        const ruled = { requestId, caseId, step, dryRun: false, validUntil: this.now + 30_000 };
        this.decide(example(Topic.stepRuling, 'STEP_ADMITTED', ruled));
      }
    return drafts;
  }

  asked(): readonly Asked[] {
    return this.events.flatMap((draft) => (draft.type === 'ESCALATION_TRIGGERED' ? [draft.payload] : []));
  }

  answer(command: CaseInput): void {
    this.sent.push(command);
    const replies = this.decide(command).filter(
      ({ type }) => type === 'ESCALATION_DECIDED' || type === 'DECISION_REFUSED',
    );
    expect(replies, 'each answer is accepted or refused').toHaveLength(1);
  }

  play(step: Step): void {
    switch (step.kind) {
      case 'find': {
        this.warrants += 1;
        const ids = { warrantId: `warrant-${this.warrants}`, episodeId: `episode-${this.warrants}` };
        const question = { ...escalate, options: [...OFFERED], onTimeout: step.holds ? 'hold' : 'terminate' } as const;
        this.decide(filed([question, terminate, recover], { ...ids, voidAt: this.now + DAY }));
        return;
      }
      case 'progress':
        this.decide(lapsed('progress', `warrant-${this.warrants}`));
        return;
      case 'words':
        this.decide(answers('blockers', `no access at ${this.now}`));
        return;
      case 'answer': {
        const seen = this.asked().at(-1 - step.nth);
        if (seen === undefined) return;
        const { caseId, deadlineAt } = seen;
        const forMs = step.decision === 'allow_more_time' ? step.forMs : null;
        this.answer(
          decides(step.decision, { caseId, by: step.by, why: String(deadlineAt), forMs, question: { deadlineAt } }),
        );
        return;
      }
      case 'again': {
        const last = this.sent.at(-1);
        if (last !== undefined) this.answer(last);
        return;
      }
      case 'pass': {
        const end = this.now + step.ms;
        for (;;) {
          const due = decider.dueAt(this.state, { now: this.now, watched: this.now, ingresses: {} });
          if (due > end) break;
          this.now = Math.max(this.now, due);
          if (this.decide(null).length === 0) break;
        }
        this.now = end;
        return;
      }
      case 'restart':
        this.state = readAtRest(AT_REST, AT_REST.oldest + AT_REST.upgrades.length, JSON.stringify(this.state));
    }
  }
}

const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
const steps = fc.array(
  fc.oneof(
    weighted(3, fc.record({ kind: fc.constant('find' as const), holds: fc.boolean() })),
    weighted(1, fc.constant({ kind: 'progress' as const })),
    weighted(1, fc.constant({ kind: 'words' as const })),
    weighted(
      9,
      fc.record({
        kind: fc.constant('answer' as const),
        nth: fc.nat({ max: 2 }),
        decision: fc.constantFrom(...DECISIONS),
        by: fc.constantFrom(...CHANNELS),
        forMs: fc.constantFrom(1, MIN, 20 * MIN),
      }),
    ),
    weighted(2, fc.constant({ kind: 'again' as const })),
    weighted(4, fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 20 * MIN }) })),
    weighted(1, fc.constant({ kind: 'restart' as const })),
  ),
  { minLength: 60, maxLength: 90 },
);

/** Each question has one answer at most, which names it and was offered. */
const check = ({ events, sent }: Story): number => {
  let open: Asked | null = null;
  let accepted = 0;
  for (const draft of events) {
    if (draft.type === 'ESCALATION_TRIGGERED') open = draft.payload;
    if (draft.type === 'CASE_CLOSED') open = null;
    if (draft.type !== 'ESCALATION_DECIDED') continue;
    expect(open, 'a question is open, and has no answer yet').not.toBeNull();
    expect(draft.payload.caseId).toBe(open?.caseId);
    expect(draft.payload.why, 'it is the question that the answer names').toBe(String(open?.deadlineAt));
    expect(open?.options, 'it was offered').toContain(draft.payload.decision);
    open = null;
    accepted += 1;
  }
  expect(accepted).toBeLessThanOrEqual(sent.length);
  return accepted;
};

test('of a thousand answers to cases, by any channel and after any time, the first decides its question, and no other', () => {
  const total = { accepted: 0, answers: 0 };
  fc.assert(
    fc.property(steps, (all) => {
      const story = new Story();
      for (const step of all) story.play(step);
      total.accepted += check(story);
      total.answers += story.sent.length;
    }),
    { numRuns: 80 },
  );
  expect(total.answers).toBeGreaterThan(1000);
  // The stories would prove nothing if nothing were accepted.
  expect(total.accepted).toBeGreaterThan(100);
});
