import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { test } from 'vitest';
import { decider } from './case.ts';
import type { CaseInput } from './state.ts';
import {
  answered,
  answers,
  changed,
  decides,
  died,
  filed,
  handoff,
  interrogate,
  interrupt,
  ladder,
  lapsed,
  nudge,
  pause,
  receipt,
  recover,
  renewed,
  requests,
  resetAsked,
  resume,
  started,
  T0,
  terminate,
} from './story.fixture.ts';

const ids = fc.integer({ min: 1, max: 6 });
const plans = fc.constantFrom(
  ladder,
  [terminate, recover],
  [recover],
  ladder.slice(1),
  [interrogate, terminate],
  [pause],
  [pause, handoff, terminate, recover],
  [nudge, interrupt, resume, { ...terminate, requires: ['unanswered' as const] }, recover],
  [resume, resume],
);
const found = fc.record({
  plan: plans,
  state: fc.constantFrom('STUCK' as const, 'FAILING' as const),
  voidIn: fc.constantFrom(180_000, 86_400_000),
  warrantId: fc.constantFrom('warrant-1', 'warrant-2'),
  endReason: fc.constantFrom(null, null, 'crashed' as const),
  runtimeId: fc.constantFrom('host-1', 'host-1', null),
  client: fc.constantFrom(null, { name: 'codex', session_id: 's' }, { name: 'codex', session_id: null }),
});
const rest = ({ plan: _, voidIn, ...others }: typeof found extends fc.Arbitrary<infer T> ? T : never) => ({
  ...others,
  voidAt: T0 + voidIn,
});
const caseIds = fc.constantFrom('case-warrant-1', 'case-warrant-2', 'case-event-1');
const ruling = fc.record({
  ...{ caseId: caseIds, n: ids, dryRun: fc.boolean(), late: fc.boolean() },
  // also where the case reads of an hour ago
  ahead: fc.constantFrom(0, 3_600_000),
});

const inputs: fc.Arbitrary<CaseInput> = fc.oneof(
  found.map((it) => filed(it.plan, rest(it))),
  found.map((it) => renewed(it.plan, rest(it))),
  fc.constantFrom('progress' as const, 'ended' as const, 'held' as const).map((why) => lapsed(why)),
  fc.constantFrom(
    died(),
    died({ endReason: 'finished' }),
    died({ endReason: 'explicit', endOrderId: 'case-warrant-1-1' }),
    changed({ to: 'STUCK' }),
    changed({ from: 'STUCK', to: 'HEALTHY' }),
    started('worker-1.i1'),
    started('worker-1.i2'),
    answered(),
    answers('handoff', 'another agent knows it'),
    answers('blockers', 'no access'),
    answers('blockers', 'no disk'),
    resetAsked(),
  ),
  ruling.map(({ caseId, n, dryRun, late, ahead }) => ({
    ...example(Topic.stepRuling, 'STEP_ADMITTED', {
      requestId: `${caseId}-r${n}`,
      dryRun,
      validUntil: late ? T0 - 1 : T0 + 86_400_000,
    }),
    occurredAt: T0 + ahead,
  })),
  ruling.map(({ caseId, n, dryRun }) =>
    example(Topic.stepRuling, 'STEP_WITHHELD', { requestId: `${caseId}-r${n}`, why: dryRun ? 'halted' : 'brake' }),
  ),
  fc
    .record({
      caseId: caseIds,
      n: ids,
      outcome: fc.constantFrom(
        'delivered',
        'answered',
        'done',
        'failed',
        'superseded',
        'expired',
        'uncertain',
        'halted',
      ),
      kind: fc.constantFrom('terminate' as const, 'nudge' as const, 'interrupt' as const, 'handoff' as const),
    })
    .map(({ caseId, n, outcome, kind }) => receipt(outcome as 'done', `${caseId}-${n}`, { kind })),
  fc
    .record({
      caseId: caseIds,
      decision: fc.constantFrom(
        'allow_more_time' as const,
        'pardon' as const,
        'terminate_and_recover' as const,
        'force_handoff' as const,
      ),
    })
    .map(({ caseId, decision }) => decides(decision, { caseId })),
  fc
    .constantFrom('nudge' as const, 'handoff' as const, 'terminate' as const, 'terminate_and_recover' as const)
    .map((step) => requests(step)),
);

/** Of any agent, the newest admission is granted as often as any other thing happens, so that stories go deep. */
test('the case keeps the laws of deciders', () => laws(decider, inputs, { runs: 1500 }));
