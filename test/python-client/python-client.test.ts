import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { claimsOf, signer, TOKEN, testGateway } from '../../services/gateway/src/testing.ts';

const folder = path.resolve(import.meta.dirname, '../../packages/python-client');
const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
const dir = mkdtempSync(path.join(tmpdir(), 'vigil-python-'));
afterAll(() => rmSync(dir, { recursive: true }));

const WAIT = { timeout: 60_000, interval: 50 };
const python = (env: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env.PATH,
  PYTHONPATH: path.join(folder, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
  ...env,
});

type Line = Readonly<Record<string, unknown>>;

/** The program of packages/python-client/tests/agent.py, with the lines that it has printed. */
const startAgent = (work: 'work' | 'answer' | 'wait', env: Readonly<Record<string, string>>) => {
  const program = path.join(folder, 'tests/agent.py');
  const own = python({ VIGIL_AGENT_ID: 'worker-1', VIGIL_TASK_ID: 'OMN-1', ...env });
  const child = spawn('python3', [program, work, program], { env: own });
  const lines: Line[] = [];
  let errors = '';
  child.stderr.on('data', (data) => {
    errors += data;
  });
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Line));
  const closed = once(child, 'close');
  return {
    lines,
    /** Its standard input ends. */
    release: () => child.stdin.end(),
    ended: async () => {
      const [code] = await closed;
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      return lines;
    },
  };
};

test.skipIf(!hasPython)('the rules that need no gateway hold', () => {
  const { status, stderr } = spawnSync('python3', [path.join(folder, 'tests/test_rules.py')], {
    env: python(),
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('OK') });
});

describe.skipIf(!hasPython)('an agent in Python, on the real gateway', () => {
  const { log, url, reopen, close } = testGateway();
  const env = () => ({ VIGIL_GATEWAY_URL: url(), VIGIL_GATEWAY_TOKEN: TOKEN });
  const heartbeats = () =>
    log()
      .events(Topic.heartbeat)
      .map(({ payload }) => payload as Line);
  const receipts = () =>
    log()
      .events(Topic.orderReceipt)
      .map(({ payload }) => payload);
  const order = (type: 'NUDGE_AGENT' | 'PROBE_AGENT' | 'HANDOFF_AGENT', more: object = {}) =>
    log().publish({
      ...example(Topic.agentOrder, type, { instanceId: null, ttlMs: 60_000, awaits: null, axes: [], ...more }),
      correlationId: 'c-1',
    });
  const instanceOf = async (agent: ReturnType<typeof startAgent>): Promise<string> => {
    await vi.waitFor(() => expect(heartbeats()).not.toEqual([]), WAIT);
    return String(agent.lines[0]?.instance);
  };

  test('reports its calls, tokens, steps, errors, checkpoint and end, and the gateway has nothing to warn of', async () => {
    const lines = await startAgent('work', env()).ended();
    expect(lines).toEqual([{ instance: expect.any(String) }, { delivered: expect.any(Number) }]);
    const all = heartbeats();
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
    expect(all.flatMap(({ tool_calls: calls }) => calls)).toMatchObject([
      { tool: 'Read', outcome: 'error', error_class: 'FileNotFoundError', args_hash: expect.stringMatching(/^apy/) },
      { tool: 'Edit', outcome: 'ok', mutating: true, target: 'b', result_hash: expect.stringMatching(/^rpy/) },
    ]);
    expect(all.flatMap(({ errors }) => errors)).toMatchObject([
      { error_class: 'ValueError', message: 'odd', count: 1 },
    ]);
    expect(all.at(-1)).toMatchObject({
      ...{ agent_id: 'worker-1', task_id: 'OMN-1', reporter: 'agent', phase: 'build', progress_indicator: '3/10' },
      ...{ token_count: 1500, error_count: 2, interval_ms: 1000, activity: 'finished' },
      steps: { total_steps: 1 },
      checkpoint: {
        uri: `file://${path.join(folder, 'tests/agent.py')}`,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        completed_work: ['parsed'],
      },
      exit: { reason: 'finished', code: null },
    });
  });

  test.each([
    ['NUDGE_AGENT', 'Nudge', { blockers: ['no access'] }],
    ['PROBE_AGENT', 'Probe', { probe_reply: expect.any(String) }],
    ['HANDOFF_AGENT', 'Handoff', { handoff: 'the tests are next' }],
  ] as const)('receives %s once, and its answer and its receipt reach the log', async (type, command, answer) => {
    await order(type);
    const lines = await startAgent('answer', env()).ended();
    expect(lines.filter((line) => 'command' in line)).toMatchObject([{ command, message: expect.any(String) }]);
    expect(receipts()).toMatchObject([{ outcome: 'delivered', agentId: 'worker-1', runtimeId: 'host-1' }]);
    expect(heartbeats()).toContainEqual(expect.objectContaining(answer));
  });

  test('refuses an order whose finding has ended since', async () => {
    const agent = startAgent('wait', env());
    const instanceId = await instanceOf(agent);
    await order('NUDGE_AGENT', { orderId: 'o-1', number: 1, instanceId, awaits: [['change']], foldedSequence: 0 });
    await vi.waitFor(() => expect(receipts()).toHaveLength(1), WAIT);
    agent.release();
    expect((await agent.ended()).filter((line) => 'command' in line)).toEqual([]);
    expect(receipts()).toMatchObject([{ outcome: 'superseded', why: 'what was awaited has come since heartbeat 0' }]);
  });

  test('writes a token that it has renewed to its file', async () => {
    const file = path.join(dir, 'token');
    const now = Date.now();
    const claims = claimsOf('agent', 'worker-1', { issuedAt: now - 3_000_000, expiresAt: now + 600_000 });
    const token = await signer.sign({ ...claims, labels: { ...claims.labels, host: ['*'] } });
    writeFileSync(file, `${token}\n`);
    chmodSync(file, 0o600);
    await startAgent('work', { VIGIL_GATEWAY_URL: url(), VIGIL_GATEWAY_TOKEN_FILE: file }).ended();
    const renewed = readFileSync(file, 'utf8').trim();
    expect(renewed).not.toBe(token);
    expect(heartbeats()).not.toEqual([]);
  });

  test('does not use a token file that others may read', async () => {
    const file = path.join(dir, 'open-token');
    writeFileSync(file, TOKEN);
    chmodSync(file, 0o644);
    const lines = await startAgent('work', { VIGIL_GATEWAY_URL: url(), VIGIL_GATEWAY_TOKEN_FILE: file }).ended();
    expect(lines).toContainEqual({ problem: expect.stringContaining(`chmod 600 ${file}`) });
    expect(heartbeats()).toEqual([]);
  });

  test('continues while no gateway answers, reports that once, and ends in time', async () => {
    const gone = env();
    await close();
    const lines = await startAgent('work', gone).ended();
    expect(lines.filter(({ problem }) => String(problem).startsWith('heartbeats wait:'))).toHaveLength(1);
    expect(lines.at(-1)).toEqual({ delivered: 0 });
    await reopen();
  });
});

/** With them in the environment an install needs no network. */
const BUILDS = `
import pip, setuptools
from importlib.util import find_spec
assert find_spec("wheel") or find_spec("setuptools.command.bdist_wheel")
`;
const hasBuildTools = spawnSync('python3', ['-c', BUILDS]).status === 0;

test.skipIf(!(hasPython && hasBuildTools))('pip installs the folder, with its types and without a dependency', () => {
  const target = path.join(dir, 'installed');
  const offline = ['--no-index', '--no-build-isolation', '--no-compile', '--target', target];
  const { status, stderr } = spawnSync('python3', ['-m', 'pip', 'install', ...offline, folder], {
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const show = 'import vigil_client; print(vigil_client.connect("worker-1", env={}).delivered, vigil_client.__file__)';
  const shown = spawnSync('python3', ['-c', show], { env: { ...python(), PYTHONPATH: target }, encoding: 'utf8' });
  expect(shown.stdout.trim()).toBe(`0 ${path.join(target, 'vigil_client/__init__.py')}`);
  expect(readdirSync(path.join(target, 'vigil_client'))).toContain('py.typed');
});
