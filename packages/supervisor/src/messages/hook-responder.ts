import type { AgentMonitor } from '../agent/agent-monitor.ts';
import type { NudgeBy } from '../agent/agent-spec.ts';
import type { Text } from '../orders/order.ts';
import type { OrderExecutor } from '../orders/order-executor.ts';
import type { HookClient, SocketHandlers } from './agent-socket.ts';
import type { HookRequests } from './hook-requests.ts';

/** In the place of an order's id: a hook confirms each text by one. */
const ANNOUNCEMENT = 'end';

/** Answers the hooks of an agent's sessions: each takes the texts that wait, and learns whether its call may be made. */
export class HookResponder {
  readonly #monitor: Pick<AgentMonitor, 'report' | 'sent' | 'sessions'>;
  readonly #nudge: NudgeBy;
  readonly #requests: Pick<HookRequests, 'ask'>;
  readonly #passing = new Map<string, (sent: boolean) => void>();
  #orderExecutor: OrderExecutor | null = null;
  /** that the agent is about to be ended; null: it is not, or a hook has it */
  #announcement: Text | null = null;

  constructor(
    monitor: Pick<AgentMonitor, 'report' | 'sent' | 'sessions'>,
    nudge: NudgeBy,
    requests: Pick<HookRequests, 'ask'>,
  ) {
    this.#monitor = monitor;
    this.#nudge = nudge;
    this.#requests = requests;
  }

  /** What its agent's socket receives. */
  get socketHandlers(): SocketHandlers {
    return {
      onReport: (report) => this.#monitor.report(report),
      onHook: (message, client) => {
        // All that a hook reports is in the spool before it connects.
        this.#monitor.sessions.read();
        if ('printed' in message) this.#printed(message.printed);
        else if ('takes' in message) this.#give(client);
        else if ('asks' in message) void this.#requests.ask(message.asks, client);
        else this.#answer(message.spooled, client);
      },
    };
  }

  /** Texts are of these orders from now on. */
  serve(orderExecutor: OrderExecutor): void {
    this.#orderExecutor = orderExecutor;
  }

  /** The next hook that takes a text gets this one, once. */
  announce(message: string): void {
    this.#announcement = { orderId: ANNOUNCEMENT, message };
  }

  #answer(id: string, client: HookClient): void {
    const question = this.#monitor.sessions.question(id);
    const texts = question?.takesText ? this.#textsDue().length : 0;
    const { refusal = null, question: asked = null } = question ?? {};
    client.answer({ hook: { texts, refusal, question: asked } });
  }

  /** No end is typed at a terminal, so a hook announces it there, too. A file has its own announcement. */
  #textsDue(): readonly Text[] {
    if (this.#nudge === 'file') return [];
    if (this.#announcement !== null) return [this.#announcement];
    return this.#nudge === 'terminal' ? [] : (this.#orderExecutor?.textsDue() ?? []);
  }

  #give(client: HookClient): void {
    const given: Text[] = [];
    for (const text of this.#textsDue())
      if (text === this.#announcement) given.push(this.#announced(text, client));
      else
        this.#orderExecutor?.pass(text, (one) => {
          given.push(one);
          return this.#printedBy(client, one);
        });
    client.answer({ hook: { texts: given.length, refusal: null, question: null } });
    for (const { orderId, message } of given) client.answer({ text: message, order_id: orderId });
  }

  /** A hook that has gone without it leaves it for the next. */
  #announced(text: Text, client: HookClient): Text {
    this.#announcement = null;
    void this.#printedBy(client, text).then((isPrinted) => {
      if (!isPrinted) this.#announcement ??= text;
    });
    return text;
  }

  /** Closes the breaker of that name; false: there is none here. */
  reset(name: string): boolean {
    if (!this.#monitor.sessions.resetBreaker(name)) return false;
    this.#monitor.report({ breakers: this.#monitor.sessions.breakers });
    return true;
  }

  #printed(orderIds: readonly string[]): void {
    for (const orderId of orderIds) this.#passing.get(orderId)?.(true);
  }

  /** False: the hook has gone without a confirmation. */
  #printedBy(client: HookClient, { orderId, message }: Text): Promise<boolean> {
    return new Promise<boolean>((resolve) => {
      this.#passing.set(orderId, resolve);
      client.onGone(() => resolve(false));
      this.#monitor.sent(message);
    }).finally(() => this.#passing.delete(orderId));
  }
}
