import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';

type End = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs the fixture until it ends; `whenStarted` gets the address of its probes, which is empty where it only waits. */
const runFixture = async (
  env: Record<string, string>,
  whenStarted?: (probes: string, pid: number) => void,
): Promise<End> => {
  const child = spawn(process.execPath, [`${import.meta.dirname}/service.fixture.ts`], { env });
  let out = '';
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk) => {
    out += chunk;
    const started = /"probes":"([^"]+)".*"started"/.exec(String(chunk));
    if (started?.[1] !== undefined) whenStarted?.(started[1], child.pid as number);
    if (String(chunk).includes('waits for a server')) whenStarted?.('', child.pid as number);
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
};

test('a stopped service closes its resources in reverse order and ends with 0', async () => {
  const end = await runFixture({ END: 'stopped' }, (_probes, pid) => process.kill(pid, 'SIGTERM'));
  expect(end.code).toBe(0);
  expect(end.out.split('\n').filter((line) => !line.startsWith('{'))).toEqual([
    'asked to stop',
    'closed second',
    'closed first',
    '',
  ]);
});

test('a service that is stopped while it waits for a server at its start ends with 0 at once', async () => {
  const end = await runFixture({ END: 'waits' }, (_probes, pid) => process.kill(pid, 'SIGTERM'));
  expect(end.code).toBe(0);
  expect(end.out).toContain('closed first');
});

test('the probes answer while it runs', async () => {
  const seen: Record<string, string> = {};
  await runFixture({ END: 'stopped' }, async (probes, pid) => {
    for (const path of ['/live', '/ready', '/metrics']) {
      const answer = await fetch(probes + path);
      seen[path] = `${answer.status} ${await answer.text()}`;
    }
    process.kill(pid, 'SIGINT');
  });
  expect(seen['/live']).toBe('200 {"live":true}');
  expect(seen['/ready']).toBe('200 {"ready":true,"parts":{"part":true,"reader":true}}');
  expect(seen['/metrics']).toContain('target_info{service_name="fixture"}');
  expect(seen['/metrics']).toContain('vigil_records_read_total{processor="part"} 3');
  expect(seen['/metrics']).toContain('vigil_warrants_total{axis="regex"} 1');
  expect(seen['/metrics']).toContain('vigil_transaction_duration_seconds_bucket{processor="part",le="0.0025"} 0');
  expect(seen['/metrics']).toContain('vigil_transaction_duration_seconds_bucket{processor="part",le="0.005"} 1');
  expect(seen['/metrics']).toContain('vigil_partition_lag{processor="part",partition="2"} 5');
  expect(seen['/metrics']).toContain('vigil_partition_time_seconds{processor="part",partition="2"} 1.5');
  expect(seen['/metrics']).toContain('vigil_partition_watched_seconds{processor="part",partition="2"} 0.5');
  expect(seen['/metrics']).toContain('vigil_partition_restored_ratio{processor="part",partition="2"} 1');
  expect(seen['/metrics']).toContain('vigil_partition_keys{processor="part",partition="2"} 7');
  expect(seen['/metrics']).toContain('vigil_partition_lag{processor="reader",partition="0"} 5');
  expect(seen['/metrics']).toContain('vigil_agents{state="STUCK"} 3');
  expect(seen['/metrics']).not.toContain('vigil_partition_time_seconds{processor="reader"');
});

test('a part that fails ends the process with 1, after all resources are closed', async () => {
  const end = await runFixture({ END: 'fails' });
  expect(end.code).toBe(1);
  expect(end.out).toContain('closed first');
  expect(end.out).toContain('part broke');
});

test('a part that ends by itself is a failure', async () => {
  const end = await runFixture({ END: 'ends' });
  expect(end.code).toBe(1);
  expect(end.out).toContain('part ended by itself');
});

test('an uncaught error ends the process with 1', async () => {
  const end = await runFixture({ END: 'throws' });
  expect(end.code).toBe(1);
  expect(end.out).toContain('thrown in passing');
});

test('a refusal is printed in plain words and ends with 2', async () => {
  const end = await runFixture({ END: 'refused' });
  expect(end).toMatchObject({ code: 2, err: 'fixture: Set a name.\n' });
  expect(end.out).not.toContain('{');
});

test('an environment that cannot be used is refused before anything is opened', async () => {
  const end = await runFixture({ END: 'unknown', VIGIL_PROBE_PORT: '70000' });
  expect(end).toMatchObject({ code: 2, out: '' });
  expect(end.err).toContain('2 of its variables');
});

test('a service that does not stop within its limit ends with 1', async () => {
  const end = await runFixture({ END: 'hangs' }, (_probes, pid) => process.kill(pid, 'SIGTERM'));
  expect(end.code).toBe(1);
  expect(end.out).toContain('did not stop within 10 s');
});

describe('several services in one process', () => {
  const both = { VIGIL_NEIGHBOUR: 'first' };

  test('each answers its own probes, with the metrics of the process, and they close in reverse order', async () => {
    const seen: string[] = [];
    const end = await runFixture({ ...both, END: 'stopped' }, async (probes, pid) => {
      seen.push(await (await fetch(`${probes}/ready`)).text(), await (await fetch(`${probes}/metrics`)).text());
      if (seen.length === 4) process.kill(pid, 'SIGTERM');
    });
    const [first, metrics, second] = seen;
    expect([first, second].toSorted()).toEqual([
      '{"ready":true,"parts":{"other":true}}',
      '{"ready":true,"parts":{"part":true,"reader":true}}',
    ]);
    for (const text of [metrics, seen[3]]) expect(text).toContain('vigil_records_read_total{processor="other"} 2');
    expect(seen[3]).toContain('vigil_partition_lag{processor="other",partition="1"} 6');
    expect(seen[3]).toContain('vigil_partition_lag{processor="reader",partition="0"} 5');
    expect(end.code).toBe(0);
    const closed = end.out.split('\n').filter((line) => line.startsWith('closed'));
    expect(closed).toEqual(['closed second', 'closed first', 'closed neighbour first']);
  });

  test('the failure of one ends the process under its name, and closes the others', async () => {
    const end = await runFixture({ ...both, END: 'fails' });
    expect(end.code).toBe(1);
    expect(end.out).toContain('closed neighbour first');
    expect(end.out).toMatch(/"service":"fixture".*part broke/);
  });

  test('the refusal of one names it', async () => {
    const end = await runFixture({ ...both, END: 'refused' });
    expect(end).toMatchObject({ code: 2, err: 'fixture: Set a name.\n' });
    expect(end.out).toContain('closed neighbour first');
  });
});
