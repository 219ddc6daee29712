import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadPolicy, PRESETS, parseYaml } from '@vigil/policy';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent, decides, died, filed, lapsed, MIN, receipt } from './story.fixture.ts';

/** What each preset's plans lead to, walked to their end with their own figures. Which finding leads to which plan is packages/health's. */
const SEC = 1000;

type Named = { readonly signals: Readonly<Record<string, { is?: string } | null>>; readonly exemptions?: object };

/** A preset as it is; of its signals only the names count here. */
const presetOf = (name: string) => {
  const text = readFileSync(path.join(PRESETS, `${name}.yaml`), 'utf8');
  const { signals, exemptions = {} } = parseYaml(text, name) as Named;
  const limits = z.looseObject({});
  const known = Object.entries(signals).map(([used, settings]) => [settings?.is ?? used, { axis: 'fact', limits }]);
  return loadPolicy(text, name, {
    signals: Object.fromEntries(known),
    exemptions: Object.fromEntries([...Object.keys(exemptions), 'rate_limited'].map((one) => [one, { limits }])),
  });
};

/** A case that has just been opened by the plan of this name. */
const worked = (preset: string, planName: string, found: Parameters<typeof filed>[1] = {}) => {
  const plan = presetOf(preset).plans.find(({ name }) => name === planName);
  if (plan === undefined) throw new Error(`${preset} has no plan ${planName}`);
  const one = agent();
  one.receive(filed(plan.steps, { planName, ...found }));
  return { ...one, first: one.admit() };
};

/** Silent for exactly so long, and not a moment less. */
const waits = (one: ReturnType<typeof agent>, ms: number): readonly string[] => {
  expect(one.after(ms - 1)).toEqual([]);
  return one.after(1);
};

const done = (number: number) => receipt('done', `case-warrant-1-${number}`);
const textOf = (one: ReturnType<typeof agent>, type: 'NUDGE_AGENT' | 'PROBE_AGENT') =>
  one
    .all()
    .flatMap((draft) => (draft.type === type ? [draft.payload.message] : []))
    .at(-1);

test.each(['vigil', 'demo'])(
  '%s, stuck: the nudge has the finding and the next step, and begins no line with a digit',
  (name) => {
    const finding =
      'You have made the same call (Bash) 5 times in a row with the same result, the first of them 40 s ago.';
    const one = worked(name, 'STUCK or FAILING', { finding, advice: 'Do not repeat it.' });
    expect(textOf(one, 'NUDGE_AGENT')).toBe(
      `Vigil watches this session and has found a problem. ${finding}\nDo not repeat it.\n` +
        'If you cannot continue, write what blocks you, or write a checkpoint and ask for a handoff.',
    );
    expect(textOf(one, 'NUDGE_AGENT')).not.toMatch(/^\s*\d/m);
  },
);

test('coditect, stuck: a nudge every 10 min, three times; 15 min for people; ended; recovered', () => {
  const one = worked('coditect', 'STUCK', { workedMinutes: 31 });
  expect(one.first).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/3']);
  expect(textOf(one, 'NUDGE_AGENT')).toBe(
    'REMINDER: You have been working for 31 minutes without\ncheckpoint update. Please either:\n' +
      '- Update your progress\n- Request handoff if stuck\n- Report blockers',
  );
  for (const number of [2, 3]) {
    expect(waits(one, 600 * SEC)).toEqual(['asks nudge soft']);
    expect(one.admit()).toEqual([`order ${number} NUDGE_AGENT`, `NUDGE_SENT ${number}/3`]);
  }
  expect(waits(one, 600 * SEC)).toEqual(['ESCALATION_TRIGGERED terminate']);
  expect(waits(one, 900 * SEC)).toEqual(['asks terminate destructive']);
  expect(one.admit()).toEqual(['order 4 TERMINATE_AGENT']);
  expect(one.all().at(-1)?.payload).toMatchObject({ graceMs: 10_000, cleanupMs: 30_000 });
  expect(one.receive(done(4))).toEqual(['AGENT_TERMINATED', 'RECOVER_TASK', 'CASE_CLOSED executed']);
});

test('coditect, failing: ended and recovered; crashed: recovered', () => {
  const failing = worked('coditect', 'FAILING');
  expect([...failing.first, ...failing.admit()]).toEqual([
    'CASE_OPENED',
    'asks terminate destructive',
    'order 1 TERMINATE_AGENT',
  ]);
  expect(failing.receive(done(1))).toEqual(['AGENT_TERMINATED', 'RECOVER_TASK', 'CASE_CLOSED executed']);
  for (const preset of ['coditect', 'omniclaude', 'vigil'])
    expect(worked(preset, 'crashed', { endReason: 'crashed', state: 'TERMINATED' }).first).toEqual([
      'CASE_OPENED',
      'RECOVER_TASK',
      'CASE_CLOSED executed',
    ]);
});

test('botbox: a limit pauses for 60 s, 120 s, 240 s … as long as it lasts, and nothing is ended', () => {
  const one = worked('botbox', 'rate_limited', { state: 'DEGRADED' });
  expect(one.first).toEqual(['CASE_OPENED', 'order 1 PAUSE_AGENT', 'AGENT_PAUSED']);
  for (const length of [60, 120, 240]) {
    expect(waits(one, length * SEC).at(-1)).toBe('AGENT_RESUMED');
    expect(waits(one, 60 * SEC)).toEqual(['asks pause soft']);
    expect(one.admit().at(-1)).toBe('AGENT_PAUSED');
  }
  expect(one.receive(lapsed('progress'))).toEqual([]);
  expect(waits(one, 480 * SEC).at(-1)).toBe('CASE_CLOSED recovered');
});

test('botbox: silence ends the agent, releases its claims and its task for reassignment, and notifies people', () => {
  const one = worked('botbox', 'no_output');
  expect(one.first.at(-1)).toBe('asks terminate destructive');
  expect(one.admit()).toEqual(['order 1 TERMINATE_AGENT']);
  expect(one.all().at(-1)?.payload).toMatchObject({ leave: 'released', release: ['claims'] });
  expect(one.receive(done(1))).toEqual(['AGENT_TERMINATED', 'ALERT_REQUESTED', 'CASE_CLOSED executed']);
});

test('botbox: a result without its completion notifies people and ends the agent; its task stays in progress', () => {
  const one = worked('botbox', 'no_completion');
  expect(one.first).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'asks terminate destructive']);
  expect(one.admit()).toEqual(['order 1 TERMINATE_AGENT']);
  expect(one.all().at(-1)?.payload).toMatchObject({ leave: 'in_progress', release: [] });
  expect(one.receive(done(1))).toEqual(['AGENT_TERMINATED', 'CASE_CLOSED executed']);
});

test('botbox: a repeated error, a claim that is not refreshed, one target over and over, and a crash notify people, and nothing else', () => {
  for (const [plan, found] of [
    ['repeated_error', {}],
    ['no_claim_refresh or same_target', { state: 'DEGRADED' }],
    ['crashed', { state: 'TERMINATED', endReason: 'crashed' }],
  ] as const)
    expect(worked('botbox', plan, found).first).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'CASE_CLOSED executed']);
});

test('botbox: an agent that uses tokens without progress waits for a person, for ever', () => {
  const one = worked('botbox', 'token_burn', { state: 'DEGRADED' });
  expect(one.first).toEqual(['CASE_OPENED', 'ESCALATION_TRIGGERED hold']);
  expect(one.after(23 * 60 * MIN)).toEqual([]);
  expect(one.receive(decides('pardon')).at(-1)).toBe('CASE_CLOSED pardoned');
});

test('gascity: asked after 0, 60 and 180 s, each with a nonce; ended 420 s after the first question, and not recovered', () => {
  const one = worked('gascity', 'STUCK');
  expect(one.first).toEqual(['CASE_OPENED', 'order 1 PROBE_AGENT']);
  expect(textOf(one, 'PROBE_AGENT')).toMatch(
    /^\[DOG\] HEALTH CHECK: Session worker-1, respond ALIVE within 60s or face termination\.\nWarrant reason: .+\nFiled by: controller\nAttempt: 1\/3\nAnswer: ALIVE [0-9a-f]{8}$/,
  );
  for (const [wait, number, next] of [
    [60, 2, 120],
    [120, 3, 240],
  ] as const) {
    expect(waits(one, wait * SEC)).toEqual(['asks interrogate soft']);
    expect(one.admit()).toEqual([`order ${number} PROBE_AGENT`]);
    expect(textOf(one, 'PROBE_AGENT')).toContain(`respond ALIVE within ${next}s or face termination`);
    expect(textOf(one, 'PROBE_AGENT')).toContain(`Attempt: ${number}/3`);
  }
  expect(waits(one, 240 * SEC)).toEqual(['asks terminate destructive']);
  expect(one.admit()).toEqual(['order 4 TERMINATE_AGENT']);
  expect(one.receive(done(4))).toEqual(['AGENT_TERMINATED', 'CASE_CLOSED executed']);
});

test.each(['no_calls', 'context_exhausted', 'rate_limited'])(
  'omniclaude, %s: asked to shut down, killed after 30 s, its task recovered',
  (planName) => {
    const one = worked('omniclaude', planName);
    expect([...one.first, ...one.admit()]).toEqual([
      'CASE_OPENED',
      'asks terminate destructive',
      'order 1 TERMINATE_AGENT',
    ]);
    expect(one.all().at(-1)?.payload).toMatchObject({ graceMs: 30_000, leave: 'in_progress' });
    expect(one.drafts(done(1)).map(({ type }) => type)).toEqual(['AGENT_TERMINATED', 'RECOVER_TASK', 'CASE_CLOSED']);
    expect(presetOf('omniclaude').recovery).toMatchObject({
      maxAttempts: 2,
      delaysMs: [0],
      jitter: 0,
      emitHealthcheck: true,
    });
  },
);

test('hive has no plan: nothing it finds leads to a step', () => expect(presetOf('hive').plans).toEqual([]));

test('vigil, stuck: two nudges in 10 min, then people have 15 min to answer; without an answer it is ended', () => {
  const one = worked('vigil', 'STUCK or FAILING');
  expect(one.first).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/2']);
  one.receive(receipt('delivered', 'case-warrant-1-1'));
  expect(waits(one, 300 * SEC)).toEqual(['asks nudge soft']);
  expect(one.admit()).toEqual(['order 2 NUDGE_AGENT', 'NUDGE_SENT 2/2']);
  one.receive(receipt('delivered', 'case-warrant-1-2'));
  expect(waits(one, 300 * SEC)).toEqual(['ALERT_REQUESTED', 'ESCALATION_TRIGGERED terminate']);
  expect(waits(one, 900 * SEC)).toEqual(['asks terminate destructive']);
  expect(one.admit()).toEqual(['order 3 TERMINATE_AGENT']);
});

test('vigil: no agent is ended on one axis of soft evidence whose nudges never arrived; people are asked instead', () => {
  const one = worked('vigil', 'STUCK or FAILING', { axes: ['absence'], hard: false });
  one.after(300 * SEC);
  one.admit();
  one.after(300 * SEC);
  expect(waits(one, 900 * SEC)).toEqual(['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold']);
  expect(one.receive(died()).at(-1)).toBe('CASE_CLOSED superseded');
});

test.each([
  ['vigil', { nudge: 300, interrupt: 120, resume: 600, people: 900 }],
  ['demo', { nudge: 6, interrupt: 5, resume: 15, people: 10 }],
])(
  '%s, a hung coding agent that takes no nudge: interrupted, resumed, and ended without a person',
  (preset, waited) => {
    const client = { name: 'claude-code', session_id: 'session-1' };
    const one = worked(preset, 'STUCK or FAILING', { axes: ['absence'], hard: false, client });
    one.receive(receipt('expired', 'case-warrant-1-1'));
    expect(waits(one, waited.nudge * SEC)).toEqual(['asks nudge soft']);
    one.admit();
    one.receive(receipt('expired', 'case-warrant-1-2'));
    expect(waits(one, waited.nudge * SEC)).toEqual(['ALERT_REQUESTED', 'asks interrupt soft']);
    expect(one.admit()).toEqual(['order 3 INTERRUPT_AGENT']);
    expect(waits(one, waited.interrupt * SEC)).toEqual(['asks resume destructive']);
    expect(one.admit()).toEqual(['order 4 RESUME_SESSION']);
    expect(waits(one, waited.resume * SEC)).toEqual(['ESCALATION_TRIGGERED terminate']);
    expect(waits(one, waited.people * SEC)).toEqual(['asks terminate destructive']);
    expect(one.admit()).toEqual(['order 5 TERMINATE_AGENT']);
    expect(one.receive(done(5)).at(-1)).toBe('CASE_CLOSED executed');
  },
);
