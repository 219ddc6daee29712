import {
  asked,
  breakerReports,
  closedByOrder,
  ended,
  type HookBreakers,
  noBreakers,
  turnOver,
} from '@vigil/sdk/hook-breakers';
import type { NudgeBy } from './agent.ts';
import type { Hands } from './hands.ts';
import type { Denied, HookWord } from './hook-words.ts';
import type { Said } from './said.ts';
import type { Ears, HookClient } from './socket.ts';
import type { Text } from './texts.ts';
import type { Watch } from './watch.ts';

type Question = Extract<HookWord, { asks: boolean }>;

/** Where the hooks of an agent's sessions ask: each takes with it the texts that wait, and learns whether its call may be made. */
export class HookDesk {
  readonly #watch: Pick<Watch, 'said' | 'told'>;
  readonly #nudge: NudgeBy;
  readonly #now: () => number;
  readonly #passing = new Map<string, (told: boolean) => void>();
  #breakers: HookBreakers;
  #hands: Hands | null = null;

  constructor(
    watch: Pick<Watch, 'said' | 'told'>,
    nudge: NudgeBy,
    now: () => number,
    breakers: HookBreakers = noBreakers,
  ) {
    this.#breakers = breakers;
    this.#watch = watch;
    this.#nudge = nudge;
    this.#now = now;
  }

  /** What its agent's socket hears. */
  get ears(): Ears {
    return {
      onSaid: (said) => this.#watch.said(said),
      onHook: (word, said, client) => {
        if ('told' in word) this.#told(word.told, said);
        else if ('takes' in word) this.#give(client);
        else this.#asked(word, said, client);
      },
    };
  }

  /** Plain JSON. */
  get breakers(): HookBreakers {
    return this.#breakers;
  }

  /** Texts are these hands' from now on. */
  serve(hands: Hands): void {
    this.#hands = hands;
  }

  #asked(word: Question, said: Said, client: HookClient): void {
    if (word.turn_over) this.#breakers = turnOver(this.#breakers);
    const denied = this.#judge(said, word.asks);
    // A call that is not made is none.
    const { tool_calls: _, ...rest } = said;
    this.#say(denied === null ? said : rest);
    const texts = word.takes_text ? this.#textsDue().length : 0;
    client.answer({ hook: { texts, denied } });
  }

  #textsDue(): readonly Text[] {
    return this.#nudge === 'terminal' || this.#nudge === 'file' ? [] : (this.#hands?.textsDue() ?? []);
  }

  #give(client: HookClient): void {
    const texts = this.#textsDue();
    client.answer({ hook: { texts: texts.length, denied: null } });
    for (const text of texts) this.#hands?.pass(text, (one) => this.#pass(client, one));
  }

  /** Closes the breaker of that name; false: there is none here. */
  reset(name: string): boolean {
    const after = closedByOrder(this.#breakers, name);
    if (after === undefined) return false;
    this.#breakers = after;
    this.#watch.said({ breakers: breakerReports(after) });
    return true;
  }

  #told(orderIds: readonly string[], said: Said): void {
    this.#say(said);
    for (const orderId of orderIds) this.#passing.get(orderId)?.(true);
  }

  #say(said: Said): void {
    if (Object.keys(said).length > 0) this.#watch.said({ ...said, breakers: breakerReports(this.#breakers) });
  }

  #judge({ tool_calls = [] }: Said, asks: boolean): Denied | null {
    const now = this.#now();
    for (const call of tool_calls) {
      if (call.outcome !== 'running') this.#breakers = ended(this.#breakers, call, now);
      else if (asks) {
        const { state, denied } = asked(this.#breakers, call, now);
        this.#breakers = state;
        if (denied !== null) return denied;
      }
    }
    return null;
  }

  #pass(client: HookClient, { orderId, message }: Text): Promise<boolean> {
    return new Promise<boolean>((resolve) => {
      this.#passing.set(orderId, resolve);
      client.onGone(() => resolve(false));
      this.#watch.told(message);
      client.answer({ text: message, order_id: orderId });
    }).finally(() => this.#passing.delete(orderId));
  }
}
