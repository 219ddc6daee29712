import path from 'node:path';
import { Topic } from '@vigil/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Received, receive } from '../support/received.ts';
import { openSystem, ownServers, soak, type TestSystem, until } from '../support/system.ts';
import { openPuppets, type Puppets } from './puppets.ts';

const env = { VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies') };
const topics = [Topic.heartbeat, Topic.agentHealth, Topic.agentIntervention, Topic.agentOrder];
/** More than the policy's 10 s of starting and 6 s of silence, at a heartbeat a second. */
const HEARTBEATS = soak(18, 30);
/** Lines of a flood that its runtime has read. */
const MANY_LINES = soak(20_000, 100_000);

const shell = (script: string) => ({ command: 'sh', args: ['-c', script] });
const floods: Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>> = {
  'prints-yes': { command: 'yes', args: [] },
  'prints-blanks': { command: 'yes', args: [''] },
  'prints-errors': shell("yes 'error: it failed with status 429'"),
  'prints-sequences': shell("s=$(printf '\\033]'); yes \"$s$s$s$s$s$s$s$s\" | tr -d '\\n'"),
};

/** Four agents of a runtime print as fast as they can. A fifth works beside them. */
describe.skipIf(!ownServers)('agents that print without end', () => {
  let vigil: TestSystem;
  let received: Received;
  let puppets: Puppets;
  beforeAll(async () => {
    vigil = await openSystem({ name: 'flood', policy: 'acting', env });
    received = await receive(vigil, topics);
    const names = Object.keys(floods);
    puppets = openPuppets(vigil, received, 'acting', ['neighbour'], {
      templates: names.map((name) => ({ name, task: `T-${name}`, ...floods[name] })),
      agents: names.map((name) => ({ name, task: `T-${name}`, template: name })),
    });
    puppets.start();
    for (const name of ['prints-yes', 'prints-blanks', 'prints-errors'])
      await until(`${name} has printed ${MANY_LINES} lines`, async () => puppets.lines(name) >= MANY_LINES);
    const before = (await puppets.instance('neighbour')).sequence;
    await until('the neighbour has sent heartbeats beside them', async () => {
      const { sequence } = await puppets.instance('neighbour');
      return sequence >= before + HEARTBEATS;
    });
  }, 300_000);
  afterAll(async () => {
    await puppets?.stop();
    received?.stop();
    await vigil?.stop();
  });

  test('their neighbour on the host is not judged unhealthy, and receives no order', () => {
    const about = (topic: typeof Topic.agentHealth | typeof Topic.agentOrder | typeof Topic.agentIntervention) =>
      received
        .of(topic)
        .filter(({ key }) => key === 'neighbour')
        .map(({ type }) => type);
    expect(about(Topic.agentHealth)).not.toContain('WARRANT_FILED');
    expect(about(Topic.agentHealth)).not.toContain('AGENT_UNRESPONSIVE');
    expect(about(Topic.agentOrder)).toEqual([]);
    expect(about(Topic.agentIntervention)).toEqual([]);
  });

  test('and they themselves are still reported', () => {
    for (const name of Object.keys(floods)) expect(puppets.heartbeats(name).length, name).toBeGreaterThan(0);
  });
});
