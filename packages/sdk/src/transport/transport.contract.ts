import type { Heartbeat } from '@vigil/events';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReceivedCommand } from '../commands.ts';
import { noProgress } from '../report/progress.ts';
import { realSystem } from '../system.ts';
import type { OpenTransport, Transport, TransportDeps } from './transport.ts';

/** The other end of a transport, which can go away and come back at the same address. */
export type Side = {
  readonly over: () => OpenTransport;
  /** a unique agent id for each test */
  readonly agentId: (name: string) => string;
  /** heartbeats of an agent that have arrived, in order; of a partial one the fields that it has */
  readonly arrived: (agentId: string) => Promise<readonly Partial<Heartbeat>[]>;
  readonly away: () => Promise<void>;
  readonly back: () => Promise<void>;
  /** sends a nudge to the agent */
  readonly nudge: (agentId: string, instanceId: string, message: string) => Promise<void>;
};

const PATIENCE_MS = 15_000;
/** After this time a caller gives a send up, if the transport has not rejected it yet. */
const AWAY_MS = 2000;

/** Polls until the condition holds. */
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** What every transport guarantees. */
export const transportContract = (side: Side): void => {
  const open: Transport[] = [];
  afterAll(() => Promise.all(open.map((one) => one.close())));

  const opened = (name: string, deliver: (command: ReceivedCommand) => boolean = () => true) => {
    const agentId = side.agentId(name);
    const identity = {
      ...{ agentId, instanceId: `${agentId}.i1`, taskId: null, runtimeId: null, attempt: null, maxAttempts: null },
      ...{ policy: null, labels: {} },
    };
    const deps: TransportDeps = {
      identity,
      system: realSystem(),
      deliver,
      progress: () => noProgress,
      onProblem: () => {},
    };
    const transport = side.over()(deps);
    open.push(transport);
    const heartbeat = (sequence: number): Heartbeat => {
      const { payload } = example(Topic.heartbeat, 'HEARTBEAT', {
        ...{ agent_id: agentId, instance_id: identity.instanceId, sequence, timestamp: Date.now(), exit: null },
        progress_indicator: `${sequence}`,
      });
      return payload;
    };
    const send = (sequence: number) => transport.send(heartbeat(sequence), AbortSignal.timeout(PATIENCE_MS));
    const untilSent = (sequence: number) =>
      until(() =>
        send(sequence).then(
          () => true,
          () => false,
        ),
      );
    return { agentId, instanceId: identity.instanceId, transport, heartbeat, send, untilSent };
  };
  const progressOf = async (agentId: string) =>
    (await side.arrived(agentId)).flatMap(({ progress_indicator: indicator }) =>
      indicator === undefined ? [] : [indicator],
    );

  test('heartbeats arrive in order, with the calls that they report', async () => {
    const { agentId, send, heartbeat } = opened('sends');
    for (const sequence of [1, 2, 3]) await send(sequence);
    await until(async () => (await progressOf(agentId)).length === 3);
    expect(await progressOf(agentId)).toEqual(['1', '2', '3']);
    const calls = (await side.arrived(agentId)).flatMap(({ tool_calls = [] }) => tool_calls);
    expect(calls.slice(0, heartbeat(1).tool_calls.length)).toEqual(heartbeat(1).tool_calls);
  });

  // One outage for all of them: a broker that was killed needs twelve seconds to serve again.
  describe('without a server', () => {
    let outage: ReturnType<typeof opened>;
    let isAway = false;
    const back = async () => {
      if (isAway) await side.back();
      isAway = false;
    };
    beforeAll(async () => {
      outage = opened('outage');
      await outage.untilSent(1);
      await side.away();
      isAway = true;
    });
    afterAll(back);

    test('opening waits for no connection, and neither does closing an unused transport', async () => {
      const { transport } = opened('unused');
      await transport.close();
      await transport.close();
    });

    test('an aborted send ends', async () => {
      const { transport, heartbeat } = opened('given-up');
      const over = new AbortController();
      const sending = transport.send(heartbeat(1), over.signal);
      over.abort();
      await expect(sending).rejects.toThrow();
    });

    test('every send rejects; when the server is back, sending works without opening the transport again', async () => {
      const { agentId, heartbeat, transport, untilSent } = outage;
      const send = () => transport.send(heartbeat(2), AbortSignal.timeout(AWAY_MS));
      await expect(send()).rejects.toThrow();
      await expect(send()).rejects.toThrow();
      await back();
      await untilSent(2);
      await until(async () => (await progressOf(agentId)).includes('2'));
    });
  });

  test('a command for the agent is delivered to it', async () => {
    const received = Promise.withResolvers<ReceivedCommand>();
    const { agentId, instanceId, untilSent } = opened('commands', (command) => {
      received.resolve(command);
      return true;
    });
    await untilSent(1);
    await side.nudge(agentId, instanceId, 'still there?');
    let sequence = 2;
    const sending = until(async () => {
      await untilSent(sequence++);
      return (await Promise.race([received.promise, Promise.resolve(null)])) !== null;
    });
    expect(await received.promise).toEqual({ kind: 'nudge', message: 'still there?' });
    await sending;
  });
};
