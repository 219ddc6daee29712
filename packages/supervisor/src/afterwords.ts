import { type Process, whenReachable } from './admit.ts';
import type { Text } from './texts.ts';

type Hearing = Pick<Process, 'ended' | 'paused' | 'channel' | 'atQuestion' | 'progress' | 'quiet'>;
type Waiting = {
  readonly text: Text;
  readonly expiresAt: number;
  readonly over: (unsaid: string | null) => void;
};

/** What an agent is told once it goes on: as soon as it can hear it, within the order's time to live. */
export class Afterwords {
  readonly #waiting = new Map<string, Waiting>();

  /** Resolves with null when it is said, else with the reason why it was not. */
  wait(text: Text, expiresAt: number): Promise<string | null> {
    return new Promise((over) => this.#waiting.set(text.orderId, { text, expiresAt, over }));
  }

  /** `now` is monotonic, as `expiresAt`. */
  lookAgain(hearing: Hearing, now: number, say: (text: string) => boolean): void {
    for (const { text, expiresAt, over } of this.#waiting.values()) {
      const unsaid = unsayable(hearing, expiresAt, now);
      if (unsaid === null && whenReachable(hearing).verdict !== 'go') continue;
      this.#waiting.delete(text.orderId);
      over(unsaid ?? saying(say, text.message));
    }
  }

  due(hearing: Hearing): readonly Text[] {
    if (whenReachable({ ...hearing, channel: 'socket' }).verdict !== 'go') return [];
    return [...this.#waiting.values()].map(({ text }) => text);
  }

  /** Somebody else says it; false: it does not wait here. */
  pass({ orderId }: Text, told: Promise<boolean>): boolean {
    const waiting = this.#waiting.get(orderId);
    this.#waiting.delete(orderId);
    if (waiting) void told.then((heard) => waiting.over(heard ? null : 'the hook that it was given to ended'));
    return waiting !== undefined;
  }
}

const unsayable = ({ ended, paused }: Hearing, expiresAt: number, now: number): string | null => {
  if (ended !== null) return `the instance has ended: ${ended}`;
  if (paused) return 'it was paused again';
  return now > expiresAt ? 'it could not be told within the time to live' : null;
};

const saying = (say: (text: string) => boolean, message: string): string | null => {
  try {
    return say(message) ? null : 'nobody was there to hear it';
  } catch (error) {
    return String(error);
  }
};
