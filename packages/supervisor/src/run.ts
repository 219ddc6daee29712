import { answerSpawn, settleAftermath } from './aftermath.ts';
import type { AgentSpec, World } from './agent.ts';
import { attach, type Seat } from './foreground.ts';
import { dispatch, pollOrders } from './orders.ts';
import { type Supervised, supervise } from './supervise.ts';
import { exitStatus } from './terminal.ts';

/** How long a finished command waits for the gateway to take the report of its end, milliseconds. */
const farewellMs = 1500;

/**
 * One command under supervision, in the foreground, as if Vigil were not there. Gives the exit status that a shell would
 * have given; a report that the gateway has not taken by then is sent by the next supervisor on this host.
 * @throws AlreadySupervised, WrongSettings
 */
export const run = async (spec: AgentSpec, world: Omit<World, 'onOrders'>, seat: Seat): Promise<number> => {
  const lives: Supervised[] = [];
  const whole: World = {
    ...world,
    onOrders: (orders) =>
      dispatch(
        whole,
        {
          runtimeId: spec.runtimeId,
          lives: () => lives,
          spawn: (order) => answerSpawn(whole, order, 'failed', { why: 'this runtime runs one command only' }),
        },
        orders,
      ),
  };
  await settleAftermath(whole, spec.runtimeId);
  const { size, output, follow } = attach(seat);
  const agent = await supervise(spec, whole, size, output);
  lives.push(agent);
  const detach = follow(agent);
  const polling = new AbortController();
  const polled = pollOrders(whole, spec.runtimeId, polling.signal);
  const exit = await agent.terminal.exited;
  detach();
  await agent.settled;
  polling.abort();
  await polled;
  await world.outbox.settled(farewellMs);
  return exitStatus(exit);
};
