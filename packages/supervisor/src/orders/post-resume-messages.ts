import { type ProcessState, whenReachable } from './admit.ts';
import type { Outcome, Text } from './order.ts';

type Waiting = {
  readonly text: Text;
  readonly expiresAt: number;
  readonly over: (reason: string | null) => void;
};

/** `isRepeated`: the gateway has offered the order lately, so the fleet is not halted. */
type Look = { readonly now: number; readonly isRepeated: (orderId: string) => boolean };

/** Messages for agents that were resumed: sent as soon as the agent can receive them, within the order's time to live. */
export class PostResumeMessages {
  readonly #waiting = new Map<string, Waiting>();

  /** Resolves with null when it is sent, whether it was read or not; else with the reason why it was not sent. */
  wait(text: Text, expiresAt: number): Promise<string | null> {
    return new Promise((over) => this.#waiting.set(text.orderId, { text, expiresAt, over }));
  }

  /** It is not sent. */
  drop(orderId: string, why: string): void {
    const waiting = this.#waiting.get(orderId);
    this.#waiting.delete(orderId);
    waiting?.over(why);
  }

  /** `now` is monotonic, as `expiresAt`. */
  check(process: ProcessState, { now, isRepeated }: Look, send: (text: Text) => Promise<Outcome>): void {
    for (const { text, expiresAt, over } of this.#waiting.values()) {
      const reason = reasonNotToSend(process, expiresAt, now);
      const reach = whenReachable(process);
      if (reason === null && (reach.kind === 'wait' || !isRepeated(text.orderId))) continue;
      this.#waiting.delete(text.orderId);
      if (reason !== null) over(reason);
      else if (reach.kind === 'go') return void trySend(send, text).then(over);
      else over('why' in reach ? reach.why : null);
    }
  }

  due(process: ProcessState, isRepeated: Look['isRepeated']): readonly Text[] {
    if (whenReachable({ ...process, channel: 'socket' }).kind !== 'go') return [];
    return [...this.#waiting.values()].map(({ text }) => text).filter(({ orderId }) => isRepeated(orderId));
  }

  /** Another channel sends it; false: it does not wait here. */
  pass({ orderId }: Text, passed: Promise<boolean>): boolean {
    const waiting = this.#waiting.get(orderId);
    this.#waiting.delete(orderId);
    if (waiting)
      void passed.then((isReceived) => waiting.over(isReceived ? null : 'the hook that it was given to ended'));
    return waiting !== undefined;
  }
}

const reasonNotToSend = ({ ended, paused }: ProcessState, expiresAt: number, now: number): string | null => {
  if (ended !== null) return `the instance has ended: ${ended}`;
  if (paused) return 'it was paused again';
  return now > expiresAt ? 'it could not be sent within the time to live' : null;
};

const trySend = async (send: (text: Text) => Promise<Outcome>, text: Text): Promise<string | null> => {
  try {
    const [outcome, more] = await send(text);
    return outcome === 'delivered' || outcome === 'uncertain' ? null : (more?.why ?? outcome);
  } catch (error) {
    return String(error);
  }
};
