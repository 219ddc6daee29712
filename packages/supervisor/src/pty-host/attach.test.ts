import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { environmentOf } from '../agent/agent-spec.ts';
import { assemble, type Beginning, newLife } from '../agent/supervise.ts';
import type { AgentDeps } from '../deps.ts';
import { type Pid, signalled } from '../process/proc.ts';
import { until } from '../testing/orphans.ts';
import { type Stage, scriptSpec, setStage } from '../testing/stage.ts';
import { openView, stopAgent } from './attach.ts';
import { heldTerminal } from './hosted-terminal.ts';
import { connectHolder, type Link } from './link.ts';
import { holderSocket } from './paths.ts';
import type { DeedOf } from './protocol.ts';
import { startHolder } from './start.ts';

let stage: Stage;
const links: Link[] = [];
const holders: Pid[] = [];
beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  vi.useRealTimers();
  for (const { pid } of holders.splice(0)) signalled(pid, 'SIGKILL');
  for (const link of links.splice(0)) link.close();
  await stage.close();
});

const world = (): AgentDeps => ({ ...stage.world, killAfterMs: 500, onOrders: () => {} });
const path = () => holderSocket(stage.dir, 'instance-1');

/** An agent that is held, and whose supervisor knows of it no more than that. */
const held = async (script: string): Promise<Beginning> => {
  const beginning = newLife(scriptSpec(script), world(), { columns: 80, rows: 24 });
  const { spec, lock, socket } = beginning;
  const env = environmentOf(spec, stage.dir, socket);
  const what = { ...spec, env, rawOutput: false, size: { columns: 80, rows: 24 } };
  await startHolder(stage.dir, { ...what, socket: path(), ring: 1 << 20, kept: null }, (holder) => {
    lock.has({ holder });
    holders.push(holder);
  });
  return beginning;
};
const supervised = async (): Promise<Link> => {
  const link = await connectHolder(path(), { as: 'supervisor', self: stage.world.self });
  links.push(link);
  return link;
};
const exits = () => stage.gateway.reports.flatMap(({ type, payload }) => (type === 'AGENT_EXITED' ? [payload] : []));
const view = (writes = false) => openView(stage.dir, 'worker-1', { who: 'ada', writes }, () => {});

test('what somebody does at a terminal while its agent is being taken over is done as soon as it is', async () => {
  const beginning = await held('read line; exit 7');
  const link = await supervised();
  const writer = await view(true);
  writer.type(Buffer.from('x\r'));
  const stopped = stopAgent(stage.dir, 'worker-1', 'bob', 60_000);
  const heard: DeedOf[] = [];
  await assemble(beginning, async (on) => {
    const deed = (one: DeedOf) => {
      heard.push(one);
      on.deed(one);
    };
    const terminal = heldTerminal(link, beginning.socket, { ...on, deed }, beginning.world);
    await until(() => expect(heard.map(({ does }) => does)).toEqual(expect.arrayContaining(['types', 'ends'])));
    return terminal;
  });
  expect(await stopped).toBe('exited with code 7');
  const details = 'exited with code 7; stopped by bob with vigil stop';
  await until(() => expect(exits()).toMatchObject([{ reason: 'explicit', details }]));
});

test('an end by Ctrl-C is one that a person wanted, and says whose', async () => {
  const beginning = await held('exec sleep 600');
  const link = await supervised();
  await assemble(beginning, (on) => heldTerminal(link, beginning.socket, on, beginning.world));
  const writer = await view(true);
  writer.type(Buffer.from('\x03'));
  const details = 'ended by SIGINT; Ctrl-C by ada at its terminal';
  await until(() => expect(exits()).toMatchObject([{ reason: 'explicit', details }]));
});

test('where nobody does what was asked, a stop says so in the end', async () => {
  await held('sleep 600');
  const link = await supervised();
  const heard: DeedOf[] = [];
  link.listen((message) => 'deed' in message && heard.push(message.deed));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const refused = expect(stopAgent(stage.dir, 'worker-1', 'ada', 1000)).rejects.toThrow(
    `agent worker-1 has not ended: its supervisor (process ${process.pid}) was asked 91 s ago; its log may say why`,
  );
  await vi.waitFor(() => expect(heard.at(-1)).toMatchObject({ does: 'ends' }), 60_000);
  await vi.advanceTimersByTimeAsync(91_000);
  await refused;
});

test('whoever is turned away is told what fits the reason', async () => {
  await held('sleep 600');
  await expect(view(true)).rejects.toThrow(/^agent worker-1: nobody supervises it now, .*: start its runtime again/);
  await supervised();
  const views = await Promise.all(Array.from({ length: 16 }, () => view()));
  await expect(view()).rejects.toThrow(/^agent worker-1: 16 terminals are attached to it already: detach one of them$/);
  await Promise.all(views.map((one) => one.leave()));
});
