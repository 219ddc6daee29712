import type { Doctor, PolicyRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { agentJson, agentLines, agentsTable, byUrgency, waitingTable } from './agents/agents.ts';
import { caseLines, casesTable } from './agents/cases.ts';
import { explainLines } from './agents/explain.ts';
import { taskRow } from './agents/task-rows.fixture.ts';
import { tasksTable } from './agents/tasks.ts';
import { storyLine } from './describe.ts';
import { doctorLines, isWell } from './fleet/doctor.ts';
import { policiesTable } from './fleet/policies.ts';
import { jsonText, plain, plainAll } from './plain.ts';
import { agentRow, CURRENT, caseStory, EXTENT, entry, explanation, fleetRow, NOON, VIEW } from './rows.fixture.ts';
import { clockTime, cut, heightOf } from './view.ts';

test('text from agents cannot control the terminal', () => {
  expect(plain('a\u001b[2Jb\u0007c\nd\u009b31me\u202ef')).toBe('ab\uFFFDc de\uFFFDf');
  expect(plain('\u001b]0;title\u0007x')).toBe('x');
  expect(plainAll({ 'k\u001b[1m': ['\u001b[31mred'] })).toEqual({ k: ['red'] });
});

test('text from agents has no mark of direction and no tag character', () => {
  expect(plain('a\u061cb\u200ec\u2066d\u{e0041}e')).toBe('a\uFFFDb\uFFFDc\uFFFDd\uFFFDe');
  expect(plain('rm\u200b a\ufeffb')).toBe('rm\uFFFD a\uFFFDb');
  expect(plain('caf\u00e9 \u{1f600} \u0639')).toBe('caf\u00e9 \u{1f600} \u0639');
  const hidden = { text: '\u061c\u{e0041}\u200b' };
  expect(jsonText(hidden)).toMatch(/^[\x20-\x7e\n]*$/);
  expect(JSON.parse(jsonText(hidden))).toEqual(hidden);
});

test('a million characters of unfinished sequences are cleaned', () => {
  // With time that grows with the square of the length, this takes minutes, and the test runs out of time.
  expect(plain('\u001b]'.repeat(500_000))).not.toContain('\u001b');
});

test('JSON for programs carries every character, escaped', () => {
  const hostile = { text: 'a\u001b[2J\u009b\u202e' };
  expect(jsonText(hostile)).toMatch(/^[\x20-\x7e\n]*$/);
  expect(JSON.parse(jsonText(hostile))).toEqual(hostile);
});

test("one agent as JSON has botbox's four fields first", () => {
  const answer = agentJson(VIEW, agentRow({ state: 'HEALTHY', lastOutputAt: Date.UTC(2026, 1, 5, 10, 30) }), CURRENT);
  expect(Object.entries(answer).slice(0, 4)).toEqual([
    ['agent', 'worker-1'],
    ['status', 'healthy'],
    ['last_output', '2026-02-05T10:30:00.000Z'],
    ['errors', []],
  ]);
});

test('the answer for programs has the host and the labels by which commands select', () => {
  const agent = agentRow({ host: 'build-7', labels: { team: 'core' } });
  expect(agentJson(VIEW, agent, CURRENT)).toMatchObject({ host: 'build-7', labels: { team: 'core' } });
});

test('the errors of an agent are those that it reports, then those that its terminal shows', () => {
  const at = NOON;
  const errors = [{ at, count: 2, errorClass: 'E', message: 'it failed' }];
  const terminalErrors = [{ at, count: 1, errorClass: 'error', message: 'Error: no such table' }];
  const agent = agentRow({ errors, terminalErrors });
  expect(agentJson(VIEW, agent, CURRENT)).toMatchObject({
    errors: [
      { message: 'it failed', class: 'E', count: 2 },
      { message: 'Error: no such table', class: 'error', count: 1 },
    ],
  });
  expect(agentLines(VIEW, agent, true).join('\n')).toContain('Error: no such table (×1)');
});

test('an agent is shown as held until its hold runs out', () => {
  const shown = (held: boolean, heldUntil: number | null) => {
    const agent = agentRow({ held, heldUntil, heldBy: 'ada', heldWhy: 'a break' });
    const line = 'held       by ada: a break';
    return [
      agentLines(VIEW, agent, true).join().includes(line),
      explainLines(VIEW, explanation({ agent }), EXTENT).join().includes(line),
      'held' in agentJson(VIEW, agent, CURRENT) && (agentJson(VIEW, agent, CURRENT) as { held: unknown }).held,
    ];
  };
  expect(shown(true, null)).toEqual([true, true, true]);
  expect(shown(true, NOON + 1)).toEqual([true, true, true]);
  expect(shown(true, NOON)).toEqual([false, false, false]);
  expect(shown(false, null)).toEqual([false, false, false]);
});

test('the table of agents shows state, exemption, since, task and reason', () => {
  const healthy = agentRow({ agentId: 'waits', state: 'HEALTHY', exemption: 'awaiting_input', taskId: null });
  expect(agentsTable(VIEW, [agentRow(), healthy], true, 9)).toEqual([
    'AGENT     STATE    EXEMPT          SINCE      TASK      REASON',
    'worker-1  STUCK    -               2 min 3 s  OMN-1234  no call for 21 s; limit 20 s',
    'waits     HEALTHY  awaiting_input  2 min 3 s  -         implement',
  ]);
  expect(agentsTable(VIEW, [], true, 9)).toEqual(['No agents.']);
  const wide = { ...VIEW, width: 120 };
  const silent = agentRow({ agentId: 'silent', lastHeartbeatAt: null });
  expect(agentsTable(wide, [agentRow({ lastHeartbeatAt: NOON - 21_000 }), silent], true, 9)).toEqual([
    expect.stringMatching(/^AGENT .* SINCE +LAST HEARTBEAT +TASK /),
    expect.stringMatching(/^silent .* - +OMN-1234 /),
    expect.stringMatching(/^worker-1 .* 21 s ago +OMN-1234 /),
  ]);
});

test('the next heartbeat is expected one interval after the last, of an agent that reports its interval and lives', () => {
  const wider = { ...VIEW, width: 140 };
  const shown = (more: object) => {
    const agent = agentRow({ lastHeartbeatAt: NOON - 21_000, intervalMs: 30_000, ...more });
    const row = agentsTable(wider, [agent], true, 9)[1] ?? '';
    return [
      row.includes('21 s ago        12:00:09'),
      agentLines(VIEW, agent, true).join().includes('the next expected by 12:00:09'),
      (agentJson(VIEW, agent, CURRENT) as { expected_by: unknown }).expected_by,
    ];
  };
  expect(shown({})).toEqual([true, true, '2026-11-22T12:00:09.000Z']);
  expect(shown({ intervalMs: null })).toEqual([false, false, null]);
  expect(shown({ state: 'TERMINATED' })).toEqual([false, false, null]);
  expect(agentsTable({ ...wider, width: 139 }, [agentRow()], true, 9)[0]).not.toContain('EXPECTED BY');
  expect(agentsTable(wider, [agentRow()], true, 9)[0]).toContain('LAST HEARTBEAT  EXPECTED BY');
});

test('no line of a table is wider than the terminal', () => {
  const long = agentRow({ reason: 'x'.repeat(300) });
  expect(agentsTable({ ...VIEW, width: 70 }, [long], true, 9).every((line) => line.length <= 70)).toBe(true);
  expect(cut('abc', 3)).toBe('abc');
  expect(cut('abcd', 3)).toBe('ab…');
});

test('a time of another day shows its date', () => {
  expect(clockTime(VIEW, NOON - 3_600_000)).toBe('11:00:00');
  expect(clockTime(VIEW, NOON - 13 * 3_600_000)).toBe('2026-11-21 23:00:00');
  expect(clockTime({ ...VIEW, offsetMinutes: 60 }, NOON)).toBe('13:00:00');
});

test('a story is printed in sentences, with its subject', () => {
  const changed = entry('HEALTH_STATE_CHANGED', { from: 'HEALTHY', to: 'STUCK', reason: 'no call for 21 s' });
  expect(storyLine(VIEW, changed)).toBe('12:00:00  worker-1  HEALTHY → STUCK: no call for 21 s');
  expect(storyLine(VIEW, entry('SOMETHING_NEW', {}))).toBe('12:00:00  worker-1  something new');
});

test('a waiting case shows the question, the automatic outcome, and the commands', () => {
  const lines = caseLines(VIEW, caseStory());
  expect(lines[0]).toBe('case case-1 of worker-1: waits for you');
  expect(lines).toContain('  plan "stuck": nudge → escalate → terminate');
  expect(lines).toContain('  in 1 min 30 s then terminate');
  expect(lines).toContain('  vigil case decide case-1 pardon --why "…"');
});

test('a case shows the options and the checkpoint of its question, and what the agent has answered', () => {
  const asks = { reason: 'no call', options: ['pardon', 'force_handoff'], checkpoint: { checkpointId: 'c-7' } };
  const lines = (answers: readonly object[], more = {}) =>
    caseLines(VIEW, caseStory({ trail: [entry('ESCALATION_TRIGGERED', { ...asks, answers, ...more })] })).join('\n');
  expect(lines([])).toContain('asks people: no call; options: pardon, force_handoff; checkpoint: c-7');
  expect(lines([])).not.toContain('answers');
  expect(lines([], { checkpoint: null })).toContain('checkpoint: none');
  expect(lines([{ how: 'blockers', text: 'no "key"' }])).toContain('; the agent answers (blockers): "no \\"key\\""');
});

test('a handoff names the words of an agent that has asked for it', () => {
  const line = (asked: string | null) => storyLine({ ...VIEW, width: 200 }, entry('HANDOFF_REQUESTED', { asked }));
  expect(line('I am lost')).toContain('prepares the handoff that it asked for: "I am lost"');
  expect(line(null)).toContain('asked to hand off');
});

test('a closed case has no question', () => {
  const lines = caseLines(VIEW, caseStory({ waiting: false, closedAt: NOON, ending: 'recovered' }));
  expect(lines[0]).toBe('case case-1 of worker-1: closed: recovered');
  expect(lines.join('\n')).not.toContain('vigil case decide');
});

test('an exemption has its end until it has passed', () => {
  const line = (exemptionUntil: number | null) => {
    const agent = agentRow({ exemption: 'awaiting_input', exemptionUntil });
    return explainLines(VIEW, { ...explanation(), agent }, EXTENT).find((one) => one.startsWith('  exempt'));
  };
  expect(line(NOON + 1000)).toBe('  exempt     awaiting_input until 12:00:01');
  for (const until of [NOON, NOON - 1000, null]) expect(line(until)).toBe('  exempt     awaiting_input');
});

test('an explanation begins with the reason that matched, in words and figures', () => {
  expect(explainLines(VIEW, explanation(), EXTENT).slice(0, 5)).toEqual([
    'worker-1 is STUCK since 11:57:57 (2 min 3 s)',
    '  because    no call for 21 s; limit 20 s',
    '  evidence   no_calls (absence, high): no call for 21 s; limit 20 s [21000 of 20000]',
    '  exempt     no',
    '  policy     vigil 0123456789abcdef',
  ]);
});

test('an explanation has the case with its steps, and omits empty sections', () => {
  const text = explainLines(VIEW, explanation(), EXTENT).join('\n');
  expect(text).toContain('11:59:30  nudged (1 of 3): "still there?"');
  expect(text).not.toContain('Recoveries');
  expect(text).not.toContain('Signals');
});

test("a signal's figure, limit and firing time are shown where they are known", () => {
  const figure = {
    signal: 'no_calls',
    axis: 'absence',
    confidence: 'medium',
    words: 'no call for 5 s; limit 20 s',
    value: 5000,
    limit: 20_000,
    isDuration: true,
  };
  const then = { ...figure, fires: false, firesFrom: NOON + 15_000, suspendedBy: ['starting'] };
  const never = { ...figure, signal: 'exited', fires: false, firesFrom: null, suspendedBy: [] };
  const text = explainLines(VIEW, explanation({ signals: [then, never] }), { ...EXTENT, all: true }).join('\n');
  expect(text).toMatch(/no_calls +medium +at 12:00:15 +starting +no call for 5 s; limit 20 s/);
  expect(text).toMatch(/exited +medium +no +- /);
});

test('while the view is blind, no signal fires now: each was firing, was due or was not', () => {
  const figure = { axis: 'absence', confidence: 'high', words: '', value: null, limit: null, isDuration: true };
  const at = (signal: string, fires: boolean, firesFrom: number | null) => ({
    ...{ ...figure, signal, fires, firesFrom, suspendedBy: [] },
  });
  const signals = [at('no_calls', true, NOON - 5000), at('no_output', false, NOON + 15_000), at('exited', false, null)];
  const blind = { ...EXTENT, isNow: false };
  const text = explainLines(VIEW, explanation({ signals }), { ...blind, all: true }).join('\n');
  expect(text).toMatch(/no_calls +high +was firing since 11:59:55/);
  expect(text).toMatch(/no_output +high +was due at 12:00:15/);
  expect(text).toMatch(/exited +high +was not /);
  expect(text).toContain('A time ahead held if nothing more was received');
  expect(explainLines(VIEW, explanation({ signals }), blind).join('\n')).toContain('1 were not due within 1 h');
  expect(explainLines(VIEW, explanation({ signals }), EXTENT).join('\n')).toContain('1 do not fire within 1 h');
});

const policy: PolicyRow = {
  ...{ name: 'vigil', hash: 'h1', origin: 'preset', agents: 4 },
  ...{ publishedAt: NOON, publishedBy: 'vigil', why: null },
};

test('while the view is blind, the agents of each policy are a count of then', () => {
  const assignment = { ...policy, name: 'assign.yaml' };
  expect(policiesTable(VIEW, [policy], true)[1]).toMatch(/ preset +4 /);
  const blind = policiesTable(VIEW, [policy, assignment], false);
  expect(blind[1]).toMatch(/ preset +- /);
  expect(blind[2]).toMatch(/ preset +was 4 /);
});

const findings = (more: Partial<Doctor> = {}): Doctor => ({
  services: [{ service: 'recovery', ready: true, detail: '', since: null }],
  time: [{ processor: 'recovery', ageMs: 800, aheadMs: 0 }],
  lag: [{ group: 'projector', atMost: 3, behindMs: 500 }],
  duplicates: [],
  hanging: [],
  replayFrom: NOON,
  fleet: fleetRow(),
  sweeps: [],
  unknown: [],
  ...more,
});

test('Vigil is well where every service is ready and time moves', () => {
  expect(isWell(findings())).toBe(true);
  expect(isWell(findings({ time: [{ processor: 'recovery', ageMs: 15_000, aheadMs: 0 }] }))).toBe(true);
  expect(isWell(findings({ time: [{ processor: 'recovery', ageMs: 15_001, aheadMs: 0 }] }))).toBe(false);
  expect(isWell(findings({ time: [{ processor: 'recovery', ageMs: null, aheadMs: 0 }] }))).toBe(false);
  expect(isWell(findings({ time: [{ processor: 'recovery', ageMs: 0, aheadMs: 30_000 }] }))).toBe(true);
  expect(isWell(findings({ time: [{ processor: 'recovery', ageMs: 0, aheadMs: 30_001 }] }))).toBe(false);
  expect(isWell(findings({ services: [{ service: 'x', ready: false, detail: 'gone', since: NOON }] }))).toBe(false);
});

test('what could not be found out is not well, and has its reason', () => {
  const holds = { what: 'what holds the fleet', why: 'connect ECONNREFUSED' };
  const unknown = [{ ...holds, parts: ['postgres'], since: NOON }];
  expect(isWell(findings({ unknown }))).toBe(false);
  expect(doctorLines(VIEW, findings({ unknown, fleet: null })).join('\n')).toContain(
    'BAD  what holds the fleet since 12:00:00: unknown (connect ECONNREFUSED)\n     what to do: repair postgres, above',
  );
  const busy = [{ ...holds, parts: [], since: null }];
  expect(doctorLines(VIEW, findings({ unknown: busy, fleet: null })).join('\n')).toContain(
    'or before: unknown (connect ECONNREFUSED)\n     what to do: the servers that know it are well',
  );
});

test('a reach of replay that is unknown is not nowhere', () => {
  const unknown = [{ what: 'the reach of replay', why: 'no answer within 3000 ms', parts: ['broker'], since: NOON }];
  const lines = doctorLines(VIEW, findings({ unknown, replayFrom: null })).join('\n');
  expect(lines).toContain('BAD  the reach of replay since 12:00:00: unknown (no answer within 3000 ms)');
  expect(lines).not.toContain('nowhere');
  expect(doctorLines(VIEW, findings({ replayFrom: null })).join('\n')).toContain('nowhere');
});

test('the doctor names every problem, since when, and what to do', () => {
  const bad = (service: string, detail: string, since: number | null = null) => ({
    service,
    ready: false,
    detail,
    since,
  });
  const lines = doctorLines(
    VIEW,
    findings({
      services: [
        bad('x', 'gone', NOON),
        bad('registry', 'does not answer within 2 s: it is frozen or overloaded'),
        bad('gateway', 'not ready: not connected or not caught up (log)'),
      ],
      time: [{ processor: 'recovery', ageMs: null, aheadMs: 0 }],
      unknown: [{ what: 'the reach of replay', why: 'no answer within 3000 ms', parts: ['broker'], since: null }],
    }),
  );
  expect(lines[0]).toBe('BAD  x since 12:00:00: gone');
  const bads = lines.flatMap((line, n) => (line.startsWith('BAD') ? [lines[n + 1]] : []));
  expect(bads).toHaveLength(5);
  for (const line of bads) expect(line).toMatch(/^ {5}what to do: /);
  expect(lines[2]).toBe(
    `BAD  registry since ${clockTime(VIEW, VIEW.now)} or before: does not answer within 2 s: it is frozen or overloaded`,
  );
});

test('the doctor states what to repair first, and that an ended process is started again', () => {
  const bad = (service: string, detail: string) => ({ service, ready: false, detail, since: NOON });
  const services = [
    bad('gateway', 'not ready: it cannot work while broker is away'),
    bad('registry', 'http://127.0.0.1:18081 answers with status 500'),
    bad('broker', 'connect ECONNREFUSED: is it running?'),
  ];
  const todos = doctorLines(VIEW, findings({ services })).filter((line) => line.includes('what to do'));
  expect(todos[0]).toBe('     what to do: repair broker first; then it continues by itself');
  expect(todos[1]).toContain('what to do: repair the other parts first; if they are ok');
  expect(todos[2]).toContain(
    'wait half a minute, because npm start, compose and Kubernetes start an ended process again',
  );
});

test('parts in a row with one remedy have it once, and a registry may only wait for Postgres', () => {
  const frozen = (service: string) => ({ service, ready: false, detail: 'no answer within 2 s', since: NOON });
  const shown = doctorLines(VIEW, findings({ services: ['gateway', 'projector', 'registry', 'postgres'].map(frozen) }));
  expect(shown.slice(0, 6).map((line) => line.split(':')[0]?.slice(0, 13))).toEqual([
    ...['BAD  gateway ', 'BAD  projecto', '     what to ', 'BAD  registry', '     what to ', 'BAD  postgres'],
  ]);
  expect(shown[2]).toContain('end its process if it is frozen (on the embedded log all services are one)');
  expect(shown[4]).toContain('repair postgres first: this registry may keep its schemas there');
});

test('the lag of the projector is ok while its rows are young, and bad once they are old', () => {
  const lagOf = (behindMs: number | null) => {
    const found = findings({ lag: [{ group: 'projector', atMost: 4, behindMs }] });
    return [doctorLines(VIEW, found).find((line) => line.includes('lag of projector')), isWell(found)];
  };
  expect(lagOf(1000)).toEqual([
    'ok   lag of projector: its rows are 1 s old, at most 4 records unread, ticks counted',
    true,
  ]);
  expect(lagOf(20_000)).toEqual([expect.stringMatching(/^BAD {2}lag of projector: its rows are 20 s old/), false]);
  expect(lagOf(null)).toEqual([expect.stringMatching(/^ok {3}.*nothing is projected yet/), true]);
});

test('the doctor shows the stuck sweep of each policy that has one: its state, threshold, label and axes', () => {
  const sweep = { thresholdMs: 600_000, label: 'pool:dog', patterns: 0, progressMismatch: true } as const;
  const sweeps = [
    { ...sweep, policy: 'gascity', state: 'disabled' },
    { ...sweep, policy: 'a', state: 'enabled', patterns: 2 },
    { ...sweep, policy: 'b', state: 'enabled', patterns: null },
    { ...sweep, policy: 'c', state: 'misconfigured', progressMismatch: false },
  ] as const;
  const lines = doctorLines(VIEW, findings({ sweeps }));
  const set = 'threshold 10 min, label pool:dog; axes:';
  expect(lines).toEqual(
    expect.arrayContaining([
      `     stuck sweep of gascity: disabled; ${set} regex off (no patterns), progress mismatch on`,
      `ok   stuck sweep of a: enabled; ${set} regex on (2 patterns), progress mismatch on`,
      `ok   stuck sweep of b: enabled; ${set} progress mismatch on`,
      `mis  stuck sweep of c: misconfigured (nothing can be found: give error_pattern patterns, or use progress_mismatch); ${set} regex off (no patterns), progress mismatch off`,
    ]),
  );
});

test('what needs a person comes first, then unhealthy agents, then working and then ended ones, by name', () => {
  const stuck = agentRow({ agentId: 'b-stuck', state: 'STUCK' });
  const crashed = agentRow({ agentId: 'a-crashed', state: 'TERMINATED', endReason: 'crashed' });
  const finished = agentRow({ agentId: 'a-finished', state: 'TERMINATED', endReason: 'finished', unhealthy: false });
  const healthy = agentRow({ agentId: 'c-healthy', state: 'HEALTHY', unhealthy: false });
  const asked = agentRow({ agentId: 'z-asked', state: 'STUCK', caseWaiting: true });
  const waitingFor = { kind: 'permission', text: null, since: null } as const;
  const asks = agentRow({ agentId: 'y-asks', state: 'HEALTHY', exemption: 'awaiting_input', waitingFor });
  const names = byUrgency([healthy, finished, crashed, asked, stuck, asks]).map(({ agentId }) => agentId);
  expect(names).toEqual(['y-asks', 'z-asked', 'a-crashed', 'b-stuck', 'c-healthy', 'a-finished']);
});

test('agents, tasks and policies are by name, and numbers in names by their value', () => {
  const ids = ['w-10', 'w-1', 'w-2'];
  const sorted = ['w-1', 'w-2', 'w-10'];
  const first = (lines: readonly string[]) => lines.slice(1).map((line) => line.split(' ')[0]);
  expect(byUrgency(ids.map((agentId) => agentRow({ agentId }))).map(({ agentId }) => agentId)).toEqual(sorted);
  const tasks = ids.map((taskId) => ({ ...taskRow(), taskId }));
  expect(first(tasksTable(VIEW, tasks, true))).toEqual(sorted);
  const policies = ids.map((name) => ({ ...policy, name }));
  expect(first(policiesTable(VIEW, policies, true))).toEqual(sorted);
});

test('an agent that asks shows its question', () => {
  const asking = (kind: 'question' | 'prompt') => {
    const waitingFor = { kind, text: 'Overwrite it? [y/N]', since: null } as const;
    return agentsTable(VIEW, [agentRow({ state: 'HEALTHY', exemption: 'awaiting_input', waitingFor })], true, 9)[1];
  };
  expect(asking('question')).toMatch(/ asks: Overwrite it\? \[y\/N\]$/);
  expect(asking('prompt')).toMatch(/ implement$/);
});

test('agents beyond the lines of the terminal are a count, and none is without need', () => {
  const agents = Array.from({ length: 5 }, (_, i) => agentRow({ agentId: `a${i}`, unhealthy: i < 4 }));
  expect(agentsTable(VIEW, agents, true, 6)).toHaveLength(6);
  const lines = agentsTable(VIEW, agents, true, 4);
  expect(lines.slice(1, 3).map((line) => line.slice(0, 2))).toEqual(['a0', 'a1']);
  expect(lines.slice(3)).toEqual(['… and 3 more, 2 of them unhealthy: --all shows them']);
});

test('a narrow table keeps two spaces between its columns, and leaves out those that do not fit', () => {
  const rows = [agentRow({ agentId: 'DEMO-lid-01', exemption: 'awaiting_input' }), agentRow({ state: 'DEGRADED' })];
  const titles = (width: number, agents = rows) => agentsTable({ ...VIEW, width }, agents, true, 9)[0]?.split(/ {2,}/);
  expect(titles(72)).toEqual(['AGENT', 'STATE', 'EXEMPT', 'SINCE', 'TASK', 'REASON']);
  expect(titles(71)).toEqual(['AGENT', 'STATE', 'SINCE', 'TASK', 'REASON']);
  expect(titles(55)).toEqual(['AGENT', 'STATE', 'SINCE', 'REASON']);
  expect(titles(46)).toEqual(['AGENT', 'STATE', 'SINCE', 'REASON']);
  expect(titles(45)).toEqual(['AGENT', 'STATE', 'REASON']);
  expect(titles(34)).toEqual(['AGENT', 'STATE']);
  for (let width = 21; width < 140; width += 1)
    for (const line of agentsTable({ ...VIEW, width }, rows, true, 9)) expect(line.length).toBeLessThanOrEqual(width);
});

test.each([
  [24, 9],
  [20, 7],
  [18, 9],
])(
  'in a terminal of %i columns the agents that are shown fit in %i lines with their heading, although rows wrap',
  (width, fits) => {
    const view = { ...VIEW, width };
    const agents = Array.from({ length: 30 }, (_, i) => agentRow({ agentId: `an-agent-of-the-core-${i}` }));
    const lines = agentsTable(view, agents, true, fits);
    expect(lines.some((line) => line.length > width)).toBe(true);
    expect(heightOf(view, lines)).toBeLessThanOrEqual(fits);
  },
);

test('agents that wait for a person are listed with their start and their question', () => {
  const asks = agentRow({
    agentId: 'nb-asks',
    exemption: 'awaiting_input',
    exemptionSince: NOON - 2_400_000,
    waitingFor: { kind: 'permission', text: 'Run rm -rf build?', since: null },
  });
  const [heading, row] = waitingTable(VIEW, [asks]);
  expect(heading).toMatch(/AGENT +WAITS +SINCE +TASK +FOR +ASKED/);
  expect(row).toMatch(/nb-asks +40 min.*permission +Run rm -rf build\?/);
  expect(waitingTable(VIEW, [])).toEqual(['No agent waits for a person.']);
});

test('the list of cases has until when a person has granted more time', () => {
  const given = { waiting: false, step: 'ESCALATION_DECIDED', decision: 'allow_more_time' };
  const stands = (more: object) => casesTable(VIEW, [caseStory({ ...given, ...more })]).at(-1);
  expect(stands({ moreTimeUntil: NOON + 600_000 })).toMatch(/ more time until 12:10:00 /);
  expect(stands({ moreTimeUntil: null, decision: 'force_handoff' })).toMatch(/ open: escalation decided /);
  expect(stands({ moreTimeUntil: NOON, closedAt: NOON, ending: 'pardoned' })).toMatch(/ closed: pardoned /);
  expect(caseLines(VIEW, caseStory({ ...given, moreTimeUntil: NOON + 600_000 }))[0]).toBe(
    'case case-1 of worker-1: more time until 12:10:00',
  );
});

test('the list of cases has why each was opened: its evidence, or who requested it by hand, and the reason', () => {
  const byHand = { requestedBy: 'ada (page)', warrantId: null, evidence: [], planName: 'by hand: nudge' };
  const rows = [
    caseStory({ note: 'continues with nudge, where its case stood' }),
    caseStory({ ...byHand, note: 'too slow' }),
    caseStory({ ...byHand, note: null }),
  ];
  const [, ...lines] = casesTable(VIEW, rows);
  expect(lines.map((line) => line.split(/ {2,}/).at(-1))).toEqual([
    'no call for 21 s; limit 20 s',
    'ada (page): too slow',
    'ada (page)',
  ]);
});
