import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type Database, openDatabase } from '@vigil/read-model';
import { dump } from '@vigil/read-model/testing';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holds, openSystem, ownServers, type TestSystem } from '../support/system.ts';

const AGENTS = Array.from({ length: 200 }, (_, n) => `worker-${n}`);

/** Rows that a rebuild replaces: the log has STUCK. */
const OLD = 'FAILING';
const NEW = 'STUCK';

const stuck = (agentId: string) => ({
  ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId }),
  key: agentId,
});

describe.skipIf(!ownServers)('vigil replay rebuild', () => {
  let on: TestSystem;
  let database: Database;
  let rows: Awaited<ReturnType<typeof dump>>;

  /** The agents by state, as the page and `vigil health` read them. */
  const shown = async (): Promise<string> => {
    const { VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: token } = on.system.env;
    const response = await fetch(`${url}/v1/agents?limit=1000`, { headers: { authorization: `Bearer ${token}` } });
    const { agents } = (await response.json()) as { readonly agents: readonly { readonly state: string }[] };
    const states = Map.groupBy(agents, ({ state }) => state);
    return [...states].map(([state, { length }]) => `${length} ${state}`).join(', ');
  };

  const schemas = async () =>
    (await database.query("SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'vigil_%' ORDER BY 1")).rows.map(
      ({ name }) => name,
    );

  beforeAll(async () => {
    on = await openSystem({ name: 'rebuild', services: ['projector', 'dashboard'] });
    database = await openDatabase(on.servers.env.DATABASE_URL, () => {}, 0);
    await writer(on.log, Date.now).write(AGENTS.map(stuck));
    await holds(async () => expect(await shown()).toBe(`${AGENTS.length} ${NEW}`));
    rows = await dump(database);
    await database.query(`UPDATE agents SET state = '${OLD}'`);
  });
  afterAll(async () => {
    await database?.close();
    await on?.stop();
  });

  test('without --yes it shows what it would do, and changes nothing', async () => {
    const { code, stdout, stderr } = await on.vigil('replay', 'rebuild');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'vigil: nothing is changed: run `vigil replay rebuild --yes` to rebuild\n',
    });
    expect(stdout).toMatch(/^This rebuilds the read model of 127\.0\.0\.1:\d+\/\w+ from \d+ partitions\./);
    expect(stdout).toContain('- It writes new rows into the schema vigil_rebuilt.');
    expect(await schemas()).toEqual([]);
    expect(await shown()).toBe(`${AGENTS.length} ${OLD}`);
  });

  test('rows of another Kafka cluster are not replaced, and the message names both', async () => {
    const { rows: found } = await database.query('SELECT cluster_id AS id FROM cluster');
    await database.query("UPDATE cluster SET cluster_id = 'another'");
    try {
      const { code, stderr } = await on.vigil('replay', 'rebuild', '--yes');
      expect(code).toBe(2);
      expect(stderr).toContain(
        `the read model is not rebuilt: the read model was built from Kafka cluster another, but KAFKA_BROKERS names ${found[0]?.id}`,
      );
    } finally {
      await database.query('UPDATE cluster SET cluster_id = $1', [found[0]?.id]);
    }
    expect(await schemas()).toEqual([]);
  });

  test('with --yes the rows are those of the log, and every reader finds all old rows or all new ones', async () => {
    const answers = new Set<string>();
    let isOver = false;
    const reading = (async () => {
      while (!isOver) answers.add(await shown());
    })();
    const result = await on.vigil('replay', 'rebuild', '--yes', '--json').finally(() => {
      isOver = true;
    });
    await reading;
    answers.add(await shown());
    expect(result).toMatchObject({ code: 0, stderr: expect.stringMatching(/(\d+) of \1 partitions are complete\n$/) });
    expect(JSON.parse(result.stdout)).toMatchObject({ rebuilt: true, before: 'vigil_before' });
    expect([...answers]).toEqual([`${AGENTS.length} ${OLD}`, `${AGENTS.length} ${NEW}`]);
    expect(await dump(database)).toEqual(rows);
    expect((await database.query('SELECT DISTINCT state FROM vigil_before.agents')).rows).toEqual([{ state: OLD }]);
  });

  test('afterwards the projector continues in the rebuilt rows, and a second rebuild gives the same rows', async () => {
    await writer(on.log, Date.now).write([stuck('later')]);
    await holds(async () => expect(await shown()).toBe(`${AGENTS.length + 1} ${NEW}`));
    const present = await dump(database);
    const { code, stdout } = await on.vigil('replay', 'rebuild', '--yes');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('is rebuilt from') });
    expect(await dump(database)).toEqual(present);
    expect(await schemas()).toEqual(['vigil_before']);
  });
});
