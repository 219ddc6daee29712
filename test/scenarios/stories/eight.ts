import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Stage } from '../stage.ts';

/** CODITECT: agents that report the eight fields, and the name of their policy, through the gateway. */

const { agentHealth, agentIntervention, agentOrder } = Topic;

type Eight = {
  readonly last_tool_call: number | null;
  readonly token_count: number;
  readonly error_count: number;
};

/** Sends heartbeats until it is stopped. `fields`: those of the nth. */
const reporting = ({ vigil }: Stage, agentId: string, everyMs: number, fields: (n: number) => Eight) => {
  const { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN } = vigil.system.env;
  const headers = { authorization: `Bearer ${VIGIL_GATEWAY_TOKEN}`, 'content-type': 'application/json' };
  let n = 0;
  const post = async (more: object): Promise<void> => {
    const own = {
      agent_id: agentId,
      task_id: `T-${agentId}`,
      timestamp: Date.now(),
      phase: 'work',
      policy: 'coditect-eight',
    };
    const body = JSON.stringify({ ...own, progress_indicator: `${n}`, ...fields(n), ...more });
    const answer = await fetch(`${VIGIL_GATEWAY_URL}/v1/heartbeats`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`the gateway refuses a heartbeat: ${await answer.text()}`);
    n += 1;
  };
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      await post({});
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  const stop = async (): Promise<void> => {
    stopped = true;
    await running;
  };
  const finish = async (): Promise<void> => {
    await stop();
    await post({ exit: { code: 0, signal: null, reason: 'finished' } });
  };
  return { stop, finish };
};

/** Each is judged by what its eight fields show. */
export const judgedByEightFields = async (stage: Stage): Promise<void> => {
  const { all, types } = stage;
  const at = () => Date.now();
  const burnsNothing = reporting(stage, 'eight-zero', 1000, () => ({
    last_tool_call: at(),
    token_count: 0,
    error_count: 0,
  }));
  // Eight calls, before the missing checkpoint makes it DEGRADED too.
  const fails = reporting(stage, 'eight-errors', 300, (n) => ({
    last_tool_call: at(),
    token_count: n * 100,
    error_count: n >> 1,
  }));
  const works = reporting(stage, 'eight-works', 1000, (n) => ({
    last_tool_call: at(),
    token_count: n * 100,
    error_count: 0,
  }));
  const falls = reporting(stage, 'eight-silent', 1000, () => ({
    last_tool_call: null,
    token_count: 0,
    error_count: 0,
  }));
  const found = (agentId: string, to: string, ...signals: readonly string[]) =>
    until(`${agentId} is ${to} by ${signals.join(' or ')}`, async () =>
      all(agentHealth, agentId, 'HEALTH_STATE_CHANGED').find(
        (one) => one.to === to && one.evidence.some((evidence) => signals.includes(evidence.signal)),
      ),
    );
  try {
    await until('eight-silent is known', async () => types(Topic.agentObservation, 'eight-silent').length > 1);
    await falls.stop();
    await found('eight-errors', 'DEGRADED', 'reported_errors');
    await found('eight-zero', 'STUCK', 'no_tokens');
    await found('eight-silent', 'STUCK', 'no_calls', 'not_started');
    await until('eight-silent is acted on', async () =>
      types(agentIntervention, 'eight-silent').includes('CASE_OPENED'),
    );
    await found('eight-works', 'DEGRADED', 'stale_checkpoint');
    await holds(() => expect(new Set(types(agentOrder, 'eight-works'))).toEqual(new Set()));
  } finally {
    await Promise.all([burnsNothing, fails, works, falls].map(({ finish }) => finish()));
  }
};
