import { type Decision, sentRequest } from '@vigil/adapters/adapter';
import { awaitDecision, LONGEST_WAIT_MS, type Polled } from '@vigil/hook/requests';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { type MachineClock, pause } from '../clock.ts';
import { GatewayForbids, GatewayRefused } from '../errors.ts';
import type { Gateway } from '../gateway/gateway-client.ts';
import type { AskedRequest } from './agent-report.ts';
import type { HookClient } from './agent-socket.ts';

type Deps = { readonly gateway: Pick<Gateway, 'request' | 'withdraw'>; readonly clock: MachineClock };
type Who = Pick<AgentSpec, 'agentId' | 'instanceId' | 'taskId' | 'labels' | 'policy'>;

const WHY = 'its hook has ended: the client was answered directly, or has ended';

/** What the hooks of one agent ask people: the gateway has the answers. */
export class HookRequests {
  readonly #who: Who;
  readonly #deps: Deps;

  constructor({ agentId, instanceId, taskId, labels, policy }: Who, deps: Deps) {
    this.#who = { agentId, instanceId, taskId, labels, policy };
    this.#deps = deps;
  }

  /** Answers the hook when people have decided, or when there will be no decision. Withdraws the request if the hook goes before. */
  async ask({ id, ...asked }: AskedRequest, client: HookClient): Promise<void> {
    const gone = new AbortController();
    client.onGone(() => gone.abort());
    const body = { ...this.#who, ...sentRequest(asked), requestId: id, waitMs: LONGEST_WAIT_MS };
    const { clock } = this.#deps;
    const waiting = { now: clock.now, pause: (ms: number) => pause(ms, gone.signal) };
    const decision = await awaitDecision((wait) => this.#poll(body, wait, gone.signal), waiting, gone.signal);
    if (gone.signal.aborted) await this.#withdraw(id);
    else this.#answer(client, decision);
  }

  #answer(client: HookClient, decided: Decision | null): void {
    client.answer({ decided });
  }

  async #poll(body: object, wait: number, signal: AbortSignal): Promise<Polled> {
    try {
      return { kind: 'answered', answer: await this.#deps.gateway.request(body, wait, signal) };
    } catch (error) {
      return { kind: error instanceof GatewayRefused || error instanceof GatewayForbids ? 'refused' : 'away' };
    }
  }

  /** Where the gateway is away, it finds out by itself that the hook does not wait any more. */
  async #withdraw(requestId: string): Promise<void> {
    const { agentId, instanceId } = this.#who;
    await this.#deps.gateway.withdraw({ requestId, agentId, instanceId, why: WHY }).catch(() => {});
  }
}
