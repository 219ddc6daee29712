import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Heartbeat, ToolCall } from '@vigil/events';
import { append, spoolFile } from '@vigil/hook/spool';
import { ended, recordOf, started } from '@vigil/hook/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { killed, OrphanStage } from '../testing/orphans.ts';
import { liveOn, nudge, resumeSession, type Stage, scriptSpec, setStage } from '../testing/stage.ts';
import { printing, recordedLines, type StreamingClient, streaming } from '../testing/streams.ts';
import type { Supervised } from './agent-instance.ts';
import { type AgentSpec, spoolOf } from './agent-spec.ts';

let stage: Stage;
let instance: Supervised | null = null;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  await instance?.end('the test is over', 0).then(() => instance?.settled);
  instance = null;
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });

/** Starts the client as a script that prints lines, and that stays unless its script ends it. */
const start = async (client: StreamingClient, script: string, more: Partial<AgentSpec> = {}): Promise<void> => {
  const [command, ...args] = streaming(stage.dir, client);
  const spec = scriptSpec(script, { command, args: ['-c', script, ...args], ...more });
  instance = await liveOn(stage, spec, 80, () => {});
};
const prints = (client: StreamingClient, lines: readonly string[], more: Partial<AgentSpec> = {}) =>
  start(client, `${printing(stage.dir, 'lines', lines)}; exec sleep 600`, more);

const own = (): readonly Heartbeat[] => stage.gateway.heartbeats.filter(({ agent_id }) => agent_id === 'worker-1');
const last = () => own().at(-1);
const callsOf = (heartbeats: readonly Heartbeat[]): readonly ToolCall[] => [
  ...new Map(
    heartbeats.flatMap((nextHeartbeat) => nextHeartbeat.tool_calls).map((call) => [call.call_id, call]),
  ).values(),
];
const outcomes = (heartbeats = own()): readonly string[] => callsOf(heartbeats).map(({ outcome }) => outcome);
const go = () => join(stage.dir, 'go');
const waitsForGo = () => `while [ ! -e ${go()} ]; do sleep 0.05; done`;

test('the invocation of a client that has finished is a result, which a completion signal may follow', async () => {
  const lines = recordedLines('claude', 'cc-works');
  const shown = `${printing(stage.dir, 'lines', lines)}; ${waitsForGo()}; echo "<promise>COMPLETE</promise>"; exec sleep 600`;
  await start('claude', shown);
  await until(() => expect(last()?.output?.result_at).toBeGreaterThan(0));
  expect(last()?.output?.completion_signal_at).toBeNull();
  writeFileSync(go(), '');
  await until(() =>
    expect(last()?.output?.completion_signal_at).toBeGreaterThanOrEqual(last()?.output?.result_at ?? Number.NaN),
  );
});

test('a client that still works has no result', async () => {
  const lines = recordedLines('claude', 'cc-works');
  await prints('claude', lines.slice(0, -1));
  await until(() => expect(outcomes()).toContain('ok'));
  expect(own().every(({ output }) => output?.result_at === null)).toBe(true);
});

test.each([
  ['claude', 'cc-works', ['ok', 'ok', 'ok', 'ok', 'ok'], 'claude-code'],
  ['codex', 'cx-works', ['ok', 'ok', 'ok', 'ok', 'ok'], 'codex'],
  ['gemini', 'gm-works', null, 'gemini-cli'],
] as const)('without a hook, the calls, tokens, turn and session of %s are in its heartbeats', async (...row) => {
  const [client, run, expected, name] = row;
  await prints(client, recordedLines(client, run));
  await until(() => expect(last()?.turn).toMatchObject({ open: false }));
  expect(last()).toMatchObject({ activity: 'awaiting_input', waiting_for: { kind: 'prompt' }, client: { name } });
  expect(last()?.client?.session_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(last()?.token_count).toBeGreaterThan(1000);
  expect(last()?.usage).toHaveLength(1);
  if (expected !== null) expect(outcomes()).toEqual(expected);
  expect(outcomes().length).toBeGreaterThan(1);
  expect(outcomes()).not.toContain('running');
  expect(last()?.breakers).toEqual([]);
});

/** The lines up to the end of the call with that number. */
const untilCallEnded = (client: StreamingClient, run: string, number: number): readonly string[] => {
  const marks = { claude: '"tool_result"', codex: '"exit_code":2', gemini: '"type":"tool_result"' };
  const lines = recordedLines(client, run);
  const ends = lines.flatMap((line, index) => (line.includes(marks[client]) ? [index] : []));
  return lines.slice(0, (ends[number - 1] ?? Number.NaN) + 1);
};

test.each([
  ['claude', 'cc-loops', 5, 'error'],
  ['codex', 'cx-loops', 5, 'error'],
  // Gemini CLI ends a loop by itself after the fourth call, and does not print exit codes.
  ['gemini', 'gm-loops', 4, 'abandoned'],
] as const)('each end of a call of %s is reported at once, and not with the next interval', async (...row) => {
  const [client, run, number, outcome] = row;
  const lines = untilCallEnded(client, run, number);
  await start(client, `${waitsForGo()}; ${printing(stage.dir, 'lines', lines)}; exec sleep 600`, {
    intervalMs: 3_600_000,
  });
  await until(() => expect(own().length).toBeGreaterThan(0));
  writeFileSync(go(), '');
  await until(() => expect(outcomes()).toEqual(Array(number).fill(outcome)));
  expect(
    new Set(callsOf(own()).map(({ args_hash, masked_result_hash }) => `${args_hash} ${masked_result_hash}`)).size,
  ).toBe(1);
  expect(last()?.turn?.open).toBe(true);
});

test('a sub-agent of Claude Code is an agent of its own, with its calls, its parent and its end', async () => {
  await prints('claude', recordedLines('claude', 'cc-sub'));
  const subagents = () => stage.gateway.heartbeats.filter(({ parent_agent_id }) => parent_agent_id === 'worker-1');
  await until(() => expect(stage.gateway.reports.map(({ type }) => type)).toContain('AGENT_EXITED'));
  const [first] = subagents();
  expect(first?.agent_id).toMatch(/^worker-1:/);
  expect(outcomes(subagents()).length).toBeGreaterThan(0);
  expect(outcomes(subagents())).not.toContain('running');
  const exit = stage.gateway.reports.find(({ type }) => type === 'AGENT_EXITED');
  expect(exit?.payload).toMatchObject({ agentId: first?.agent_id, reason: 'finished' });
});

test.each([
  ['claude', 'cc-wedged'],
  ['codex', 'cx-wedged'],
] as const)('an answer of 400 blocks %s', async (client, run) => {
  await prints(client, recordedLines(client, run));
  await until(() => expect(last()).toMatchObject({ activity: 'blocked', turn: { open: false } }));
  expect(own().flatMap(({ errors }) => errors)).toMatchObject([{ count: 1, error_class: expect.any(String) }]);
});

test('a limit that names its reset is reported until then, also where the error that follows does not name it', async () => {
  const resetsAt = Math.round(Date.now() / 1000) + 3600;
  const [init = '', ...others] = recordedLines('claude', 'cc-limited429ever');
  const { session_id } = JSON.parse(init);
  const limit = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt }, session_id };
  await prints('claude', [init, JSON.stringify(limit), ...others]);
  await until(() => expect(own().map(({ activity }) => activity)).toContain('rate_limited'));
  const limits = own().flatMap(({ rate_limit }) => (rate_limit === null ? [] : [rate_limit.retry_at]));
  expect(new Set(limits)).toEqual(new Set([resetsAt * 1000]));
});

test('a limit of Codex, whose reset its stream does not name, is reported as one', async () => {
  await prints('codex', recordedLines('codex', 'cx-limited429ever'));
  await until(() => expect(own().map(({ activity }) => activity)).toContain('rate_limited'));
});

test('a line that has the words of a limit and reports none limits nothing', async () => {
  const [init = '', ...others] = recordedLines('claude', 'cc-works');
  const info = { type: 'rate_limit_event', rate_limit_info: { status: 'allowed' } };
  const other = { type: 'unknown', text: 'error 429, rate limit, overloaded_error' };
  const words = [info, other].map((line) => JSON.stringify({ ...line, session_id: JSON.parse(init).session_id }));
  await prints('claude', [init, ...words, ...others]);
  await until(() => expect(last()?.turn).toMatchObject({ open: false }));
  const found = own().flatMap(({ output }) => output?.matched_patterns.map(({ kind }) => kind) ?? []);
  expect(found).toContain('error');
  expect(found).not.toContain('rate_limit');
  expect(own().map(({ activity }) => activity)).not.toContain('rate_limited');
});

/** Prints these lines under a command line that asks for no stream. */
const printsWithoutStream = async (client: StreamingClient, words: readonly string[], lines: readonly string[]) => {
  const [command] = streaming(stage.dir, client);
  const script = `${printing(stage.dir, 'lines', lines)}; exec sleep 600`;
  instance = await liveOn(stage, scriptSpec(script, { command, args: ['-c', script, ...words] }), 80, () => {});
};

test('a client without a stream option is not read, with any output', async () => {
  const lines = recordedLines('codex', 'cx-works');
  await printsWithoutStream('codex', ['exec'], lines);
  await until(() => expect(last()?.output?.lines).toBe(lines.length));
  expect(last()).toMatchObject({ turn: null, client: null, token_count: null, tool_calls: [] });
});

test('the silence of a client that prints nothing before its answer is unknown until a hook reports it', async () => {
  const words = 'error: a notice at its start';
  await printsWithoutStream('claude', ['-p', 'task'], Array(3).fill(words));
  await until(() => expect(last()?.output?.repeated_error).toMatchObject({ count: 3 }));
  expect(last()?.activity).toBeNull();
  for (const { output } of own()) expect(output).toMatchObject({ lines: null, last_output_at: null });
  const file = join(spoolOf(stage.dir, 'instance-1'), spoolFile('claude-code', 's-1'));
  append(file, recordOf([{ kind: 'turn_started', at: 1, agent: null }], { session: 's-1' }));
  await until(() => expect(last()).toMatchObject({ activity: 'working', output: { lines: 3 } }));
});

test('a text cannot be typed at a client that prints a stream, and the receipt names another way', async () => {
  await prints('claude', recordedLines('claude', 'cc-loops').slice(0, 4));
  await until(() => expect(last()?.turn).toMatchObject({ open: true }));
  stage.gateway.offer(nudge());
  const receipts = () => stage.gateway.reports.filter(({ type }) => type === 'ORDER_RECEIPT');
  await until(() => expect(receipts()).toHaveLength(1));
  expect(receipts()[0]?.payload).toMatchObject({
    outcome: 'failed',
    why: expect.stringContaining('a hook or a resumed session carries the text'),
  });
});

test('a session that hangs is resumed by the id that its client has printed, and its stream is read on', async () => {
  const lines = recordedLines('codex', 'cx-works');
  const first = printing(stage.dir, 'first', lines.slice(0, 9));
  const second = printing(stage.dir, 'second', [...lines.slice(0, 1), ...lines.slice(10)]);
  await start('codex', `if [ "$2" = resume ]; then echo "resumed $3"; ${second}; else ${first}; fi; exec sleep 600`);
  await until(() => expect(outcomes()).toEqual(['running']));
  stage.gateway.offer(resumeSession());
  await until(() => expect(last()?.turn).toMatchObject({ open: false }));
  expect(instance?.terminal.startedNext()?.id).toBe('resume-session-1');
  expect(outcomes()).toEqual(['abandoned', 'ok', 'ok', 'ok', 'ok']);
  expect(last()?.client?.session_id).toBe(JSON.parse(lines[0] ?? '').thread_id);
  expect(last()?.token_count).toBeGreaterThan(1000);
});

test('if a hook reports the same session, nothing is counted twice, and a nudge waits for the hook', async () => {
  const lines = recordedLines('claude', 'cc-works');
  const session = JSON.parse(lines[0] ?? '').session_id;
  const spool = (events: Parameters<typeof recordOf>[0]) =>
    append(join(spoolOf(stage.dir, 'instance-1'), spoolFile('claude-code', session)), recordOf(events, { session }));
  await start('claude', `${waitsForGo()}; ${printing(stage.dir, 'lines', lines)}; exec sleep 600`);
  spool([{ kind: 'turn_started', at: 1, agent: null }, started('hooked', 2)]);
  writeFileSync(go(), '');
  await until(() => expect(last()?.output?.lines).toBe(lines.length));
  spool([ended('hooked', 3)]);
  await until(() => expect(outcomes()).toEqual(['ok']));
  expect(callsOf(own()).map(({ call_id }) => call_id)).toEqual(['hooked']);
  expect(last()).toMatchObject({ token_count: null, usage: [], turn: { open: true } });
  stage.gateway.offer(nudge(), 500);
  const receipts = () => stage.gateway.reports.filter(({ type }) => type === 'ORDER_RECEIPT');
  await until(() => expect(receipts()).toMatchObject([{ payload: { outcome: 'expired' } }]));
});

test('a supervisor that takes the agent over reads each line once, and the one that was cut between the two', async () => {
  const orphans = new OrphanStage(stage);
  stage.deps.close();
  const lines = recordedLines('claude', 'cc-works');
  const cut = Math.floor(lines.length / 2);
  const [half = ''] = lines.slice(cut);
  const first = printing(stage.dir, 'first', lines.slice(0, cut));
  writeFileSync(join(stage.dir, 'half'), half.slice(0, 60));
  writeFileSync(join(stage.dir, 'rest'), half.slice(60));
  const second = printing(stage.dir, 'second', ['', ...lines.slice(cut + 1)]);
  const begun = `${first}; cat ${join(stage.dir, 'half')}; touch ${join(stage.dir, 'begun')}`;
  const script = `${begun}; ${waitsForGo()}; cat ${join(stage.dir, 'rest')}; ${second}; exec sleep 600`;
  const as = streaming(stage.dir, 'claude');
  try {
    const runtime = await orphans.runs(script, as);
    await until(() => expect(existsSync(join(stage.dir, 'begun'))).toBe(true));
    await until(() => expect(outcomes().length).toBeGreaterThan(0));
    await orphans.keepsReporting();
    await killed(runtime);
    const before = own().length;
    writeFileSync(go(), '');
    await orphans.runs(script, as);
    await until(() => expect(last()?.turn).toMatchObject({ open: false }));
    expect(outcomes()).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
    const starts = callsOf(own().slice(0, before)).filter(({ outcome }) => outcome !== 'running');
    const again = own()
      .slice(before + 1)
      .flatMap(({ tool_calls }) => tool_calls.map(({ call_id }) => call_id));
    expect(starts.filter(({ call_id }) => again.includes(call_id))).toEqual([]);
    const { usage } = JSON.parse(lines.at(-1) ?? '');
    expect(last()?.token_count).toBe(usage.input_tokens + usage.output_tokens);
  } finally {
    const { ptyHost, child } = orphans.held;
    for (const { pid } of [child, ptyHost]) process.kill(-pid, 'SIGKILL');
  }
});
