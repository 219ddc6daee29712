import type { Heartbeat } from '@vigil/events';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterAll, expect, test } from 'vitest';
import { noProgress } from '../progress.ts';
import type { Heard } from '../words.ts';
import { realWorld } from '../world.ts';
import type { Line, Over, Transport } from './transport.ts';

/** The other end of a way, which can be away and come back at the same address. */
export type Side = {
  readonly over: () => Over;
  /** who the agent is: a name of its own for each test */
  readonly agentId: (name: string) => string;
  /** heartbeats of an agent that have arrived, in their order; of a partial one what it has */
  readonly arrived: (agentId: string) => Promise<readonly Partial<Heartbeat>[]>;
  readonly away: () => Promise<void>;
  readonly back: () => Promise<void>;
  /** says something to the agent */
  readonly nudge: (agentId: string, instanceId: string, message: string) => Promise<void>;
};

const PATIENCE_MS = 15_000;

/** Asks until it is so. */
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** What every way to Vigil promises, however it goes. */
export const transportContract = (side: Side): void => {
  const open: Transport[] = [];
  afterAll(() => Promise.all(open.map((one) => one.close())));

  const opened = (name: string, hear: (heard: Heard) => boolean = () => true) => {
    const agentId = side.agentId(name);
    const who = {
      ...{ agentId, instanceId: `${agentId}.i1`, taskId: null, runtimeId: null, attempt: null, maxAttempts: null },
      ...{ policy: null, labels: {} },
    };
    const line: Line = { who, world: realWorld(), hear, progress: () => noProgress, tell: () => {} };
    const transport = side.over()(line);
    open.push(transport);
    const beat = (sequence: number): Heartbeat => {
      const { payload } = example(Topic.heartbeat, 'HEARTBEAT', {
        ...{ agent_id: agentId, instance_id: who.instanceId, sequence, timestamp: Date.now(), exit: null },
        progress_indicator: `${sequence}`,
      });
      return payload;
    };
    const send = (sequence: number) => transport.send(beat(sequence), AbortSignal.timeout(PATIENCE_MS));
    const untilSent = (sequence: number) =>
      until(() =>
        send(sequence).then(
          () => true,
          () => false,
        ),
      );
    return { agentId, instanceId: who.instanceId, transport, beat, send, untilSent };
  };
  const progressOf = async (agentId: string) =>
    (await side.arrived(agentId)).flatMap(({ progress_indicator: said }) => (said === undefined ? [] : [said]));

  test('what was sent arrives, in its order, with the calls that it tells', async () => {
    const { agentId, send, beat } = opened('sends');
    for (const sequence of [1, 2, 3]) await send(sequence);
    await until(async () => (await progressOf(agentId)).length === 3);
    expect(await progressOf(agentId)).toEqual(['1', '2', '3']);
    const calls = (await side.arrived(agentId)).flatMap(({ tool_calls = [] }) => tool_calls);
    expect(calls.slice(0, beat(1).tool_calls.length)).toEqual(beat(1).tool_calls);
  });

  test('opening waits for nobody, and closing an unused one neither', async () => {
    await side.away();
    const { transport } = opened('unused');
    await transport.close();
    await transport.close();
    await side.back();
  });

  test('while nobody is there it says so, each time; when somebody is there again it delivers, without being opened anew', async () => {
    const { agentId, untilSent, send } = opened('outage');
    await untilSent(1);
    await side.away();
    await expect(send(2)).rejects.toThrow();
    await expect(send(2)).rejects.toThrow();
    await side.back();
    await untilSent(2);
    await until(async () => (await progressOf(agentId)).includes('2'));
  });

  test('a send that is given up ends', async () => {
    const { transport, beat } = opened('given-up');
    await side.away();
    const over = new AbortController();
    const sending = transport.send(beat(1), over.signal);
    over.abort();
    await expect(sending).rejects.toThrow();
    await side.back();
  });

  test('what is said to the agent reaches it', async () => {
    const heard = Promise.withResolvers<Heard>();
    const { agentId, instanceId, untilSent } = opened('hears', (word) => {
      heard.resolve(word);
      return true;
    });
    await untilSent(1);
    await side.nudge(agentId, instanceId, 'still there?');
    let sequence = 2;
    const beating = until(async () => {
      await untilSent(sequence++);
      return (await Promise.race([heard.promise, Promise.resolve(null)])) !== null;
    });
    expect(await heard.promise).toEqual({ kind: 'nudge', message: 'still there?' });
    await beating;
  });
};
