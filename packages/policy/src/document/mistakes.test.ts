import { expect, test } from 'vitest';
import { load, mistakesOf } from '../fixture.ts';

const mistakesIn = (text: string) => mistakesOf(() => load(text));
const wrong = (section: string) => mistakesIn(`{ policy: p, signals: {}, states: {}, ${section} }`);

test('all mistakes are reported at once, each with its place and remedy', () => {
  expect(
    mistakesIn(`
policy: bad
colour: red
signals: { silent: { is: nothing }, no_activity: { after: 10 }, looping: { tims: 4 } }
states: { STUCK: [undeclared, looping] }
exemptions: { naps: true }
exclude: ['ok', '(']
warrant: { renew: 60s, void: 60s }
plans: [{ when: STUCKED, do: [{ nudge: { interval: soon } }, jump] }]
`),
  ).toEqual([
    expect.stringMatching(/^exclude\[1\]: "\(" is not an RE2 pattern/),
    'plans[0].do[0].nudge.interval: "soon" is not a duration: write one like 10m, 60s or 500ms',
    expect.stringMatching(/^plans\[0\]\.do\[1\]: there is no step jump: write one of nudge, /),
    expect.stringMatching(/^colour: there is no such key: write one of policy, enabled, /),
    'signals.looping.tims: there is no such key: did you mean times?',
    'signals.no_activity.after: 10 is not a duration: write one like 10m, 60s or 500ms',
    'signals.silent: there is no signal nothing: write one of no_activity, looping',
    expect.stringMatching(/^warrant\.void: 1 min is not above warrant\.renew/),
    'exemptions.naps: there is no such exemption: write one of idle, starting',
    'states.STUCK[0]: undeclared is not declared: add it under signals, as "undeclared: {}"',
    'plans[0].when: STUCKED is neither a state nor declared under signals nor an exemption: did you mean STUCK?',
  ]);
});

test('a misspelt key, signal, step or state is answered with a suggestion', () => {
  expect(wrong('heartbeet: {}')).toEqual(['heartbeet: there is no such key: did you mean heartbeat?']);
  expect(wrong('recovery: { max_atempts: 3, breaker: { failure_treshold: 2 } }')).toEqual([
    'recovery.breaker.failure_treshold: there is no such key: did you mean failure_threshold?',
    'recovery.max_atempts: there is no such key: did you mean max_attempts?',
  ]);
  expect(wrong('ticket: { bands: [{ at: 5, severity: medum }, { at: 5, sevrity: high }] }')).toEqual([
    'ticket.bands[0].severity: "medum" is not one of low, medium, high, critical: did you mean medium?',
    'ticket.bands[1].severity: is missing: write one of low, medium, high, critical',
    'ticket.bands[1].sevrity: there is no such key: did you mean severity?',
    'ticket.bands[1].at: 5 is in an earlier band already: write another number of steps',
  ]);
  expect(mistakesIn('{ policy: p, signals: { no-activity: { after: 6m } }, states: {} }')).toEqual([
    'signals.no-activity: there is no signal no-activity: did you mean no_activity?, or name its signal, as "no-activity: { is: … }"',
  ]);
  expect(mistakesIn('{ policy: p, signals: {}, states: { STUK: [] } }')).toEqual([
    'states.STUK: there is no such key: did you mean STUCK?',
  ]);
  expect(wrong('plans: [{ when: STUCK, do: [{ terminat: {} }, { nudge: { interval: 1m, atempts: 2 } }] }]')).toEqual([
    'plans[0].do[0]: there is no step terminat: did you mean terminate?',
    'plans[0].do[1].nudge.atempts: there is no such key: did you mean attempts?',
  ]);
});

test('a value of a wrong type is shown with the expected type', () => {
  expect(wrong('enabled: maybe')).toEqual(['enabled: "maybe" is not true or false: write true or false']);
  expect(wrong('exclude: 5')).toEqual(['exclude: 5 is not a list: write a list']);
  expect(wrong('exemptions: { idle: 5 }')).toEqual([
    'exemptions.idle: 5: write true or false or a section of settings',
  ]);
  expect(wrong('recovery: { max_attempts: -1 }')).toEqual([
    'recovery.max_attempts: -1 is too little: write at least 0',
  ]);
  expect(wrong('plans: [{ do: [] }]')).toEqual([
    expect.stringMatching(/^plans\[0\]\.when: is missing: write /),
    'plans[0].do: [] is too little: write at least 1 entry',
  ]);
  expect(mistakesIn('{ policy: Loud, signals: {}, states: {} }')).toEqual([
    'policy: "Loud": write a name of lower-case letters, digits, - and _',
  ]);
  expect(mistakesIn('{ signals: {}, states: {} }')).toEqual(['policy: is missing: write a text']);
  expect(mistakesIn('- a list')).toEqual([expect.stringMatching(/^document: \["a list"\] is not a section/)]);
});

test('each alternative is named by its number', () => {
  const text =
    '{ policy: p, signals: { looping: {} }, states: { STUCK: [looping, lopping +] }, plans: [{ when: [STUCK, nap], do: [recover] }] }';
  expect(mistakesIn(text)).toEqual([
    expect.stringMatching(/^states\.STUCK\[1\]: lopping is not declared: did you mean looping\?/),
    expect.stringMatching(/^states\.STUCK\[1\]: a name is missing/),
    expect.stringMatching(/^plans\[0\]\.when\[1\]: nap is neither/),
  ]);
});

test('two steps in one entry, counter-evidence of itself, and bands at one number are mistakes', () => {
  expect(wrong('plans: [{ when: STUCK, do: [{ recover: {}, block: why }] }]')).toEqual([
    'plans[0].do[0]: recover and block are in one entry: write each step as an entry of its own',
  ]);
  expect(mistakesIn('{ policy: p, signals: { looping: { unless: [looping, gone] } }, states: {} }')).toEqual([
    'signals.looping.unless: looping would quiet itself: name another signal',
    'signals.looping.unless: gone is not declared: add it under signals, as "gone: {}"',
  ]);
  expect(wrong('ticket: { bands: [{ at: 5, severity: low }, { at: 5, severity: high }] }')).toEqual([
    'ticket.bands[1].at: 5 is in an earlier band already: write another number of steps',
  ]);
});

test('an empty list of a plan hides no other mistake', () => {
  expect(
    mistakesIn(`
policy: h1
signals: { no_activty: { after: 6x }, looping: { times: x } }
states: { STUCK: [nothing] }
plans: [{ when: [], do: [recover] }, { when: STUK, do: [recover] }]
`),
  ).toEqual([
    'plans[0].when: [] is too little: write at least 1 entry',
    expect.stringMatching(/^signals\.looping\.times: /),
    expect.stringMatching(/^signals\.no_activty: there is no signal no_activty: did you mean no_activity\?/),
    expect.stringMatching(/^states\.STUCK\[0\]: nothing is not declared/),
    expect.stringMatching(/^plans\[1\]\.when: STUK is neither .* did you mean STUCK\?$/),
  ]);
});

test('an entry that is not a text hides no other mistake, and is named once', () => {
  expect(
    mistakesIn("{ policy: p, exclude: ['(', 5], signals: { looping: {} }, states: { STUCK: [looping, nope, 5] } }"),
  ).toEqual([
    expect.stringMatching(/^exclude\[0\]: "\(" is not an RE2 pattern/),
    'exclude[1]: 5 is not a text: write a text',
    'states.STUCK[2]: 5 is not a text: write a text',
    expect.stringMatching(/^states\.STUCK\[1\]: nope is not declared/),
  ]);
  expect(wrong('plans: [{ when: [STUK, 5], do: [recover] }]')).toEqual([
    'plans[0].when[1]: 5 is not a text: write a text',
    expect.stringMatching(/^plans\[0\]\.when\[0\]: STUK is neither/),
  ]);
});

test('contradicting settings are reported together with other mistakes, but not if one of them is itself wrong', () => {
  const foo = expect.stringMatching(/^warrant\.foo: there is no such key/);
  const never = expect.stringMatching(/^warrant\.void: 1 min 40 s is not above warrant\.renew/);
  expect(wrong('warrant: { renew: 200s, void: 100s, foo: 1 }')).toEqual([foo, never]);
  expect(wrong('warrant: { renew: 100s, void: 200s, foo: 1 }')).toEqual([foo]);
  expect(wrong('warrant: { renew: soon, void: 30s }')).toEqual([expect.stringMatching(/^warrant\.renew: "soon" /)]);
  expect(wrong('warrant: { renew: 200s, void: soon }')).toEqual([expect.stringMatching(/^warrant\.void: "soon" /)]);
  expect(wrong('ticket: { bands: [{ at: no, severity: low }, { at: no, severity: low }] }')).toEqual([
    'ticket.bands[0].at: "no" is not a number: write a number',
    'ticket.bands[1].at: "no" is not a number: write a number',
  ]);
});

test('a missing duration is named as missing, and a value of another type as invalid', () => {
  expect(wrong('plans: [{ when: STUCK, do: [nudge] }]')).toEqual([
    'plans[0].do[0].nudge.interval: is missing: write one like 10m, 60s or 500ms',
  ]);
  expect(wrong('plans: [{ when: STUCK, do: [{ nudge: { interval: null } }] }]')).toEqual([
    'plans[0].do[0].nudge.interval: null is not a duration: write one like 10m, 60s or 500ms',
  ]);
});

test('unreadable YAML and a duplicate key are mistakes like any other', () => {
  expect(mistakesIn('policy: [')).toHaveLength(1);
  expect(mistakesIn('policy: a\npolicy: b\n')).toHaveLength(1);
});

test('signals that quiet each other are a mistake; a chain is allowed', () => {
  const written = (c: string) =>
    `{ policy: p, signals: { a: { is: looping, unless: b }, b: { is: looping, unless: c }, c: { is: looping${c} } }, states: {} }`;
  expect(mistakesIn(written(', unless: a'))).toEqual(
    ['a', 'b', 'c'].map(
      (name) => `signals.${name}.unless: ${name} would quiet itself through others: remove one of them`,
    ),
  );
  expect(mistakesIn(written(''))).toEqual([]);
});

test('a route of alerts that is turned off has a name of its own, and leaves no task or ticket without a person', () => {
  expect(wrong('alerts: { stuck_agent: false, recovery_failed: { severity: critical } }')).toEqual([]);
  expect(wrong('alerts: { stuck_agnt: false }')).toEqual([
    'alerts.stuck_agnt: false: no policy has this route: did you mean stuck_agent?',
  ]);
  expect(wrong('alerts: { fleet_brake: false }')).toEqual([
    expect.stringMatching(/^alerts\.fleet_brake: false: no policy has this route/),
  ]);
  expect(wrong('alerts: { task_blocked: false }')).toEqual([
    'alerts.task_blocked: false: only this alert shows that a task waits for a person: write its severity and channels',
  ]);
  const off = 'alerts: { escalation_ticket: false }';
  expect(wrong(off)).toEqual([]);
  expect(wrong(`ticket: { stall: 4m }, ${off}`)).toEqual([
    'alerts.escalation_ticket: false: no one would get the tickets that this policy files: write a severity, or remove the section ticket',
  ]);
  expect(wrong('alerts: { stuck_agent: true }')).toEqual([
    'alerts.stuck_agent: true: write false or a section of settings',
  ]);
  expect(wrong('alerts: { stuck_agent: { severity: loud } }')).toEqual([
    expect.stringMatching(/^alerts\.stuck_agent\.severity: "loud" is not one of info, warning, critical/),
  ]);
});
