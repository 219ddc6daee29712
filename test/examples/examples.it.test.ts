import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { bundleOf } from '@vigil/dev';
import { Topic } from '@vigil/events';
import { PRESETS, parseYaml } from '@vigil/policy';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';

const folder = path.resolve(import.meta.dirname, '../../docs/examples');
const run = promisify(execFile);
const works = (...words: string[]): boolean => spawnSync('python3', words).status === 0;
const hasPython = works('--version');
const hasPip = works('-m', 'pip', '--version');

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

type Alerts = { readonly default: readonly string[]; readonly channels: Readonly<Record<string, object>> };

/** The channels of examples 7 and 8 together. */
const alertsAt = (port: number): Alerts => {
  const [seventh, eighth] = ['7-alerts.yaml', '8-alerts.yaml'].map((name) => {
    const text = readFileSync(path.join(folder, name), 'utf8').replaceAll('docs/examples', folder);
    return parseYaml(text.replace('7999', String(port)), name) as Alerts;
  });
  return {
    default: [...new Set([...(seventh?.default ?? []), ...(eighth?.default ?? [])])],
    channels: { ...seventh?.channels, ...eighth?.channels },
  };
};

const CLAIM_EXPIRES = '2026-11-26T13:00:00Z';
/** The tracker and the claims of botbox, with the output of their own commands. `calls` has what changed something. */
const writeTrackers = (dir: string): void => {
  const bead = { id: 'bd-12', title: 'a table', status: 'in_progress', updated_at: '2026-11-26T11:00:00Z' };
  const claim = { agent: 'example-8', patterns: ['bead://shop/bd-12'], active: true, expires_at: CLAIM_EXPIRES };
  const answer = (output: object, question: string) => `#!/bin/sh
if [ "$*" = "${question}" ]; then echo '${JSON.stringify(output)}'; else echo "$(basename "$0") $*" >> ${dir}/calls; fi
`;
  writeFileSync(path.join(dir, 'br'), answer([bead], 'list --json'), { mode: 0o755 });
  const listed = { claims: [{ ...claim, expires_in_secs: 1800, stale: false }] };
  writeFileSync(path.join(dir, 'bus'), answer(listed, 'claims list --format json'), { mode: 0o755 });
};

describe.skipIf(!ownServers)('the examples', () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  let on: TestSystem;
  let dir: string;
  let port: number;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    port = await freePort();
    dir = mkdtempSync(path.join(tmpdir(), 'vigil-examples-'));
    writeFileSync(path.join(dir, 'alerts.yaml'), JSON.stringify(alertsAt(port)));
    writeTrackers(dir);
    // On a busy host an answer may take longer than the ten seconds of the demonstration.
    const demo = readFileSync(path.join(PRESETS, 'demo.yaml'), 'utf8');
    const patient = demo.replace('escalate: { timeout: 10s }', 'escalate: { timeout: 10m }');
    expect(patient).not.toBe(demo);
    mkdirSync(path.join(dir, 'policies'));
    writeFileSync(path.join(dir, 'policies/demo.yaml'), patient);
    on = await openSystem({
      name: 'examples',
      env: {
        VIGIL_ALERTS_FILE: path.join(dir, 'alerts.yaml'),
        VIGIL_POLICY_DIR: path.join(dir, 'policies'),
        ORCHESTRATOR_SECRET: secret,
        PATH: `${dir}:${process.env.PATH}`,
        VIGIL_ALERT_GROUP_WAIT_MS: '0',
        VIGIL_ALERT_END_WAIT_MS: '0',
      },
    });
    const own = { PATH: `${dir}:${process.env.PATH}`, VIGIL_STATE_DIR: path.join(on.dir, 'state') };
    env = { ...process.env, ...on.servers.env, ...on.system.env, ...own };
  });
  afterAll(async () => {
    await on?.stop();
    if (dir) rmSync(dir, { recursive: true, force: true });
  });

  const calls = async (agentId: string): Promise<number> =>
    (await on.events(Topic.agentObservation)).flatMap(({ key, type, payload }) =>
      key === agentId && type === 'AGENT_HEARTBEAT' ? payload.tool_calls : [],
    ).length;
  const hasFinished = (agentId: string) =>
    until(`${agentId} has finished`, async () => {
      const { stdout } = await on.vigil('health', agentId, '--json');
      return stdout.includes('"status": "terminated"') && stdout.includes('finished');
    });
  const vigil = (...args: string[]) => run(process.execPath, [bundleOf('vigil'), ...args], { env, cwd: folder });

  test('1: the output of a process is passed through, and its end is reported', async () => {
    const { stdout } = await vigil(
      ...['run', '--name', 'example-1', '--task', 'EX-1', '--health-policy', 'vigil', '--', 'sh', '1-process.sh'],
    );
    expect(stdout).toBe('step 1 of 3\nstep 2 of 3\nstep 3 of 3\n');
    await hasFinished('example-1');
  });

  test('2: heartbeats by curl are accepted without a warning, and the last one ends the agent', async () => {
    const { stdout } = await run('sh', ['2-http.sh'], { env, cwd: folder });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers).toHaveLength(4);
    for (const answer of answers) expect(answer).toMatchObject({ accepted: 1, warnings: [] });
    await hasFinished('example-2');
  });

  test.runIf(hasPython)('3: Python over HTTP reports its calls, without a warning', async () => {
    const { stdout } = await run('python3', ['3-http.py'], { env, cwd: folder });
    expect(stdout).toBe('finished\n');
    await hasFinished('example-3');
    expect(await calls('example-3')).toBe(3);
  });

  test.runIf(hasPip)('4: Python over Kafka is watched too', async () => {
    const packages = path.resolve(folder, '../../.cache/python-examples');
    if (!existsSync(path.join(packages, 'confluent_kafka')))
      await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', packages, 'confluent-kafka==2.6.1']);
    const { stdout } = await run('python3', ['4-kafka.py'], { env: { ...env, PYTHONPATH: packages }, cwd: folder });
    expect(stdout).toBe('finished\n');
    await hasFinished('example-4');
  });

  test('6: a policy is checked, applied, and judges the agent that names it', async () => {
    await vigil('policy', 'check', '6-policy.yaml');
    await vigil('policy', 'apply', '6-policy.yaml', '--why', 'an example');
    const silent = spawn(
      process.execPath,
      [
        bundleOf('vigil'),
        ...['run', '--name', 'example-6', '--task', 'EX-6', '--health-policy', 'example', '--', 'sleep', '600'],
      ],
      { env, cwd: folder, stdio: 'ignore' },
    );
    try {
      await until('example-6 is stuck', async () =>
        (await on.vigil('health', 'example-6', '--json')).stdout.includes('"stuck"'),
      );
    } finally {
      silent.kill();
      await once(silent, 'close');
    }
  });

  test('7: the orchestrator answers the question, and a fresh agent continues', async () => {
    const orchestrator = spawn(process.execPath, ['7-orchestrator.mjs'], {
      env: { ...env, ORCHESTRATOR_SECRET: secret, ORCHESTRATOR_PORT: String(port) },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    orchestrator.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    try {
      await until('it waits for alerts', async () => printed.includes('waiting for alerts'));
      const unsigned = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
      expect(unsigned.status).toBe(401);
      await on.fleet(['hangs']);
      await until('it has decided', async () => /terminate_and_recover \(202\)/.test(printed));
      const decided = await until('the decision is recorded', async () =>
        (await on.events(Topic.agentIntervention)).find(({ type }) => type === 'ESCALATION_DECIDED'),
      );
      expect(decided.payload).toMatchObject({
        by: 'link to orchestrator (orchestrator)',
        decision: 'terminate_and_recover',
      });
      await until('its task is on a fresh agent', async () =>
        (await on.events(Topic.taskRecovery)).some(({ type }) => type === 'RECOVERY_COMPLETED'),
      );
    } finally {
      orchestrator.kill();
    }
  });

  test('8: heartbeats have the bead and its claim; a repeated error blocks the task, and its bead', async () => {
    await vigil('policy', 'apply', '8-policy.yaml', '--why', 'an example');
    const runtime = spawn(process.execPath, [bundleOf('vigil'), 'runtime', '--config', '8-runtime.yaml'], {
      env,
      cwd: folder,
      stdio: 'ignore',
    });
    const calls = () => (existsSync(path.join(dir, 'calls')) ? readFileSync(path.join(dir, 'calls'), 'utf8') : '');
    try {
      const seen = await until(
        'its bead is in a heartbeat',
        async () =>
          (await on.events(Topic.agentObservation)).flatMap(({ key, type, payload }) =>
            key === 'example-8' && type === 'AGENT_HEARTBEAT' && payload.work !== null ? [payload.work] : [],
          )[0],
      );
      expect(seen).toMatchObject({
        id: 'bd-12',
        status: 'in_progress',
        claim_refreshed_at: Date.parse(CLAIM_EXPIRES) - 3_600_000,
      });
      await until('its bead is blocked', async () => calls().includes('br update bd-12 --status blocked\n'));
      expect(calls().split('\n')).toContain('bus claims release --agent example-8 --all');
      const ended = (await on.events(Topic.agentIntervention)).find(
        ({ type, payload }) => type === 'AGENT_TERMINATED' && payload.agentId === 'example-8',
      );
      expect(ended?.payload).toMatchObject({ taskLeft: 'blocked' });
    } finally {
      runtime.kill();
      await once(runtime, 'close');
    }
  });
});
