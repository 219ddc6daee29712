import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { judgeOf, policyCalled } from './evaluate.ts';
import { formatNamed } from './formats.ts';
import { piecesOf } from './records.ts';
import {
  atifFile,
  atifTrajectory,
  claudeCodeFile,
  claudeCodeStream,
  codexFile,
  codexStream,
  geminiFile,
  geminiStream,
  genAiExport,
  genAiFile,
  olderGeminiFile,
  type Session,
} from './sessions.fixture.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-formats-'));
afterAll(() => rmSync(dir, { recursive: true }));

const file = (name: string, text: string): string => {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  writeFileSync(path.join(dir, name), text);
  return path.join(dir, name);
};

const judge = judgeOf(policyCalled('vigil'), 5_000);

/** The judgements of a text, and what could not be read of it. */
const evaluated = async (text: string, name = 'any-name', format: string | null = null) => {
  const judgements: ReturnType<typeof judge>[number][] = [];
  const errors: string[] = [];
  try {
    for await (const { where, read } of piecesOf(file(name, text), { format: formatNamed(format ?? ''), gap: 5_000 }))
      try {
        judgements.push(...read().flatMap(judge));
      } catch (error) {
        errors.push(`${path.relative(dir, where)}: ${(error as Error).message}`);
      }
  } catch (error) {
    errors.push((error as Error).message);
  }
  return { judgements, errors };
};

const worstOf = async (text: string) => (await evaluated(text)).judgements.map(({ judged }) => judged.worst);

const looping: Session = { commands: Array.from({ length: 6 }, () => 'ls'), isDone: false };
const working: Session = { commands: ['ls', 'cat a', 'ls', 'make', 'make test', 'git diff'], isDone: true };

const FORMATS = [
  ['ATIF', atifFile, 's-atif', 'terminus-2'],
  ['Claude Code', claudeCodeFile, 's-claude', 'claude-code'],
  ['Codex', codexFile, 's-codex', 'codex'],
  ['Gemini CLI', geminiFile, 's-gemini', 'gemini-cli'],
  ['older versions of Gemini CLI', olderGeminiFile, 's-gemini', 'gemini-cli'],
  ['spans of a framework', genAiFile, 's-otlp', 'framework'],
  ['the output of Claude Code', claudeCodeStream, 's-claude', 'claude-code'],
  ['the output of Codex', codexStream, 's-codex', 'codex'],
  ['the output of Gemini CLI', geminiStream, 's-gemini', 'gemini-cli'],
] as const;

describe.each(FORMATS)('a file of %s', (_, fileOf, run_id, src) => {
  test('is recognised by its content, and a loop in it is found at the fifth identical call', async () => {
    const { judgements, errors } = await evaluated(fileOf(looping));
    expect(errors).toEqual([]);
    expect(judgements).toMatchObject([{ run_id, src, success: null, calls: 6, judged: { worst: 'STUCK' } }]);
    const stuck = judgements[0]?.judged.changes.find(({ to }) => to === 'STUCK');
    expect(stuck).toMatchObject({ call: 5, signals: ['looping'] });
  });

  test('with four identical calls is not STUCK', async () => {
    expect(await worstOf(fileOf({ commands: looping.commands.slice(0, 4), isDone: false }))).toEqual(['DEGRADED']);
  });

  test('that ends after a call that failed claims to be done falsely', async () => {
    const { judgements } = await evaluated(fileOf({ ...working, failing: ['git diff'] }));
    const { changes } = judgements[0]?.judged ?? { changes: [] };
    expect(changes).toMatchObject([{ to: 'DEGRADED', call: 6, signals: ['false_completion'] }]);
  });

  test('with a success is not flagged', async () => {
    const { judgements, errors } = await evaluated(fileOf(working));
    expect(errors).toEqual([]);
    expect(judgements).toMatchObject([{ run_id, calls: 6, judged: { worst: 'HEALTHY', changes: [] } }]);
  });
});

/** These record the end of a turn. The others have only its calls. */
const WITH_TURNS = FORMATS.filter(([name]) => name !== 'ATIF' && name !== 'spans of a framework');

test.each(WITH_TURNS)('a file of %s that was cut off after a call that failed claims nothing', async (_, fileOf) => {
  expect(await worstOf(fileOf({ ...working, failing: ['git diff'], isDone: false }))).toEqual(['HEALTHY']);
});

test.each(FORMATS.filter(([name]) => name !== 'the output of Gemini CLI'))(
  'in a file of %s a check counts also within a shell, and later calls do not hide that it failed',
  async (_, fileOf) => {
    const commands = ['ls', 'bash -lc "npm test"', 'git diff'];
    const { judgements } = await evaluated(fileOf({ commands, isDone: true, failing: commands.slice(1, 2) }));
    expect(judgements[0]?.judged.changes.at(-1)).toMatchObject({ to: 'DEGRADED', signals: ['false_completion'] });
    const passed = { commands: [...commands, 'timeout 60 npm test'], isDone: true, failing: commands.slice(1, 2) };
    expect(await worstOf(fileOf(passed))).toEqual(['HEALTHY']);
  },
);

describe.each(FORMATS.slice(1, 4))('a damaged file of %s', (_, fileOf, run_id) => {
  test('is judged without the line that is damaged, which is named', async () => {
    const cut = fileOf(looping).trimEnd().slice(0, -20);
    const { judgements, errors } = await evaluated(cut, 'cut');
    expect(judgements).toMatchObject([{ run_id, judged: { worst: 'STUCK' } }]);
    expect(errors).toEqual([expect.stringMatching(/^cut:\d+: no JSON: /)]);
  });

  test('in which nothing has a time is an error', async () => {
    const [first = ''] = fileOf(working).split('\n');
    expect((await evaluated(first)).errors.join()).toMatch(/^any-name: nothing in this session of .* has a time/);
  });
});

const RECORDINGS = '../../../../services/gateway/src/otlp/recordings';
/** The export requests of a real session. */
const exportsOf = (name: string): string =>
  gunzipSync(readFileSync(path.join(import.meta.dirname, RECORDINGS, `${name}.jsonl.gz`)))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.stringify(JSON.parse(line).json))
    .join('\n');

test.each([
  ['claude-code.traces', 5, 'HEALTHY'],
  ['claude-code.traces-loops', 16, 'FAILING'],
  // It answers after a call that failed.
  ['claude-code.works', 5, 'DEGRADED'],
  ['codex.loops', 16, 'FAILING'],
])('telemetry that a real client exported is judged: %s', async (name, calls, worst) => {
  const { judgements, errors } = await evaluated(exportsOf(name));
  expect(errors).toEqual([]);
  expect(judgements).toMatchObject([{ calls, judged: { worst } }]);
});

test('requests in one file are one session, and a request that was exported again counts once', async () => {
  const [request, pretty] = [genAiFile(looping), JSON.stringify(genAiExport(looping), null, 2)];
  expect((await evaluated(request + request)).judgements).toMatchObject([{ calls: 6, judged: { worst: 'STUCK' } }]);
  expect(await evaluated(pretty)).toMatchObject({ errors: [], judgements: [{ calls: 6, judged: { worst: 'STUCK' } }] });
});

test('the time of a span is not silence, but the time between spans is', async () => {
  const spans = (took: number) => evaluated(JSON.stringify(genAiExport(working, took)));
  expect((await spans(300)).judgements).toMatchObject([{ judged: { worst: 'HEALTHY' } }]);
  expect((await spans(400)).judgements[0]?.judged.changes[0]).toMatchObject({
    to: 'STUCK',
    signals: expect.arrayContaining(['no_activity']),
  });
});

test('a damaged request is named, and telemetry of no agent is an error', async () => {
  const { judgements, errors } = await evaluated(
    `${genAiFile(looping)}{"resourceSpans":[{"scopeSpans":7}]}\n`,
    'otel.jsonl',
  );
  expect(judgements).toMatchObject([{ judged: { worst: 'STUCK' } }]);
  expect(errors).toEqual([
    expect.stringMatching(/^otel\.jsonl:2: not an export request: resourceSpans\.0\.scopeSpans: /),
  ]);
  expect((await evaluated('{"resourceSpans":[]}')).errors.join()).toContain('nothing in this telemetry is of an agent');
});

test('output with times is judged by them, output without times never by silence', async () => {
  const [before, after] = [claudeCodeStream({ commands: ['a', 'b'], isDone: false }), claudeCodeStream(working)];
  const late = after.replaceAll('2026-11-23', '2026-11-24').replaceAll(/"t(\d)/g, '"u$1');
  expect((await evaluated(before + late)).judgements).toMatchObject([{ judged: { worst: 'STUCK' } }]);
  const untimed = claudeCodeStream(working, false);
  const { judgements } = await evaluated(untimed);
  expect(judgements).toMatchObject([{ calls: 6, judged: { worst: 'HEALTHY' } }]);
  expect(judgements[0]?.inputs).not.toContain('times');
  expect(judgements[0]?.inputs).toContain('outcomes');
});

test('output of several sessions in one file is judged by session', async () => {
  const { judgements } = await evaluated(codexStream(looping, 'one') + codexStream(working, 'two'));
  expect(judgements.map(({ run_id, judged }) => [run_id, judged.worst])).toEqual([
    ['one', 'STUCK'],
    ['two', 'HEALTHY'],
  ]);
});

test('a line in output that is not JSON is named, and the rest is judged', async () => {
  const { judgements, errors } = await evaluated(`a warning\n${codexStream(looping)}`, 'run.log');
  expect(judgements).toMatchObject([{ judged: { worst: 'STUCK' } }]);
  expect(errors).toEqual([expect.stringMatching(/^run\.log:1: no JSON: /)]);
});

test('a format can be forced where the content does not show it', async () => {
  const [, ...rest] = codexStream(looping).split('\n');
  expect((await evaluated(rest.join('\n'))).errors.join()).toContain('the format is not known');
  const forced = await evaluated(rest.join('\n'), 'run.jsonl', 'codex-stream');
  expect(forced).toMatchObject({ errors: [], judgements: [{ run_id: 'run.jsonl', judged: { worst: 'STUCK' } }] });
  const wrong = await evaluated(codexStream(looping), 'run.jsonl', 'runs');
  expect(wrong.judgements).toEqual([]);
  expect(wrong.errors[0]).toContain('run_id: is missing');
});

const plainRun = (run_id: string) => ({ run_id, calls: [{ tool: 'bash', args: 'ls', result: 'a' }] });

test.each([null, 'runs'])('a pretty-printed run, and a list of runs, are read (format %s)', async (format) => {
  const one = await evaluated(JSON.stringify(plainRun('a'), null, 2), 'run.json', format);
  expect(one).toMatchObject({ errors: [], judgements: [{ run_id: 'a', calls: 1 }] });
  for (const indent of [0, 2]) {
    const many = await evaluated(
      JSON.stringify([plainRun('a'), { run_id: 'b' }, plainRun('c')], null, indent),
      'runs.json',
      format,
    );
    expect(many.judgements.map(({ run_id }) => run_id)).toEqual(['a', 'c']);
    expect(many.errors).toEqual([expect.stringMatching(/^runs\.json\[1]: calls: is missing/)]);
  }
});

test('pretty-printed runs one after another are one error', async () => {
  const text = `${JSON.stringify(plainRun('a'), null, 2)}\n${JSON.stringify(plainRun('b'), null, 2)}`;
  const { judgements, errors } = await evaluated(text);
  expect([judgements, errors.length]).toEqual([[], 1]);
});

test.each([
  ['{"foo":1}\n{"bar":2}\n', '{"foo":1}'],
  ['# A page\n', '# A page'],
  ['[1, 2]', '[1, 2]'],
])(
  'a file of an unknown format is an error with its beginning and the formats that are known (%j)',
  async (text, found) => {
    const { judgements, errors } = await evaluated(text);
    expect(judgements).toEqual([]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`it begins with ${found}`);
    for (const known of ['run_id and calls', 'ATIF-v1', 'Claude Code', 'Codex', 'Gemini CLI'])
      expect(errors[0]).toContain(known);
  },
);

test.each([
  [{ schema_version: 'ATIF-v2.0' }, /schema_version: "ATIF-v2\.0" is not known: give ATIF-v1\.0 to ATIF-v1\.7/],
  [{ steps: 7 }, /steps: 7 is no list: give the list of the trajectory’s steps/],
  [{ steps: [{ tool_calls: [{ arguments: {} }] }] }, /steps\[0\]\.tool_calls\[0\]\.function_name: is missing/],
  [{ steps: [{ timestamp: 'soon' }] }, /steps\[0\]\.timestamp: "soon" is no time/],
])('a damaged trajectory names the field, the value and what to write: %j', async (change, message) => {
  const { judgements, errors } = await evaluated(JSON.stringify({ ...atifTrajectory(working), ...change }));
  expect(judgements).toEqual([]);
  expect(errors.join()).toMatch(message);
});

test('steps of a trajectory that were copied from an earlier one count there, not here', async () => {
  const { steps, ...rest } = atifTrajectory(looping);
  const copied = steps.map((step, i) => ({ ...step, is_copied_context: i < 4 }));
  expect(await worstOf(JSON.stringify({ ...rest, steps: copied }))).toEqual(['HEALTHY']);
});

test('a sub-agent within a trajectory is a run of its own', async () => {
  const inner = { ...atifTrajectory(looping), trajectory_id: 'explore', agent: { name: 'explorer', version: '1' } };
  const { judgements } = await evaluated(
    JSON.stringify({ ...atifTrajectory(working), subagent_trajectories: [inner] }),
  );
  expect(judgements.map(({ run_id, judged }) => [run_id, judged.worst])).toEqual([
    ['s-atif', 'HEALTHY'],
    ['s-atif:explore', 'STUCK'],
  ]);
});

test("a trajectory of a client is evaluated with its adapter's knowledge of tools", async () => {
  const polling = atifTrajectory({ commands: Array.from({ length: 6 }, () => 'sleep 60; cat log'), isDone: false });
  const calls = polling.steps.map((step) =>
    'tool_calls' in step ? { ...step, tool_calls: renamed(step.tool_calls) } : step,
  );
  const of = (name: string) => worstOf(JSON.stringify({ ...polling, agent: { name, version: '1' }, steps: calls }));
  expect(await of('claude-code')).toEqual(['STUCK']);
  expect(await of('codex')).toEqual(['HEALTHY']);
});

const renamed = (calls: readonly object[]) => calls.map((call) => ({ ...call, function_name: 'write_stdin' }));

test('the shell of an unknown agent polls too, in a recorded run and in a trajectory, unless the record denies it', async () => {
  const commands = Array.from({ length: 6 }, () => 'timeout 90 bash -c "sleep 60; cat log"');
  expect(await worstOf(atifFile({ commands, isDone: false }))).toEqual(['HEALTHY']);
  const run = (more: object) =>
    JSON.stringify({
      run_id: 'r',
      calls: commands.map((command) => ({ tool: 'bash', args: { command }, result: '', ...more })),
    });
  expect(await worstOf(run({}))).toEqual(['HEALTHY']);
  expect(await worstOf(run({ polling: false }))).toEqual(['STUCK']);
});

test('a sub-agent of Claude Code is judged from its file beside that of the session', async () => {
  file('session/subagents/agent-a1b2.jsonl', claudeCodeFile(looping, { subagent: { id: 'a1b2', type: 'Explore' } }));
  const { judgements } = await evaluated(claudeCodeFile(working), 'session.jsonl');
  expect(judgements.map(({ run_id, judged }) => [run_id, judged.worst])).toEqual([
    ['s-claude', 'HEALTHY'],
    ['s-claude:Explore-a1b2', 'STUCK'],
  ]);
});

const NEXT_DAY = { from: 86_400 };

test('a session that waited for its person overnight is healthy', async () => {
  expect(await worstOf(claudeCodeFile(working) + claudeCodeFile(working, NEXT_DAY))).toEqual(['HEALTHY']);
});

test('a session whose turn stayed open overnight is STUCK: its model did not answer', async () => {
  const hung = claudeCodeFile({ ...working, isDone: false });
  const { judgements } = await evaluated(hung + claudeCodeFile(working, NEXT_DAY));
  const [first] = judgements[0]?.judged.changes ?? [];
  expect(first).toMatchObject({ to: 'STUCK', call: 6, signals: expect.arrayContaining(['no_model_answer']) });
});

test('a session that ends in an open turn is healthy: what followed is not known', async () => {
  expect(await worstOf(claudeCodeFile({ ...working, isDone: false }))).toEqual(['HEALTHY']);
});

test('a session that its person continues after ten days is judged on', async () => {
  const { judgements } = await evaluated(claudeCodeFile(working) + claudeCodeFile(looping, { from: 864_000 }));
  expect(judgements[0]?.judged.changes.map(({ to, call }) => [to, call])).toContainEqual(['STUCK', 11]);
});
