import { setTimeout as sleep } from 'node:timers/promises';
import type { Supervised } from '../processes/supervise.ts';

/** How often a service is asked: it has the whole time to answer. Milliseconds. */
const LOOK_MS = 5000;
/** A service that has not answered so often in a row is frozen. */
const MISSED = 6;

/** A service under supervision. `answers`: whether it answers at all, with any status. */
export type Watched = {
  readonly service: Pick<Supervised, 'name' | 'pid' | 'kill'>;
  readonly answers: () => Promise<boolean>;
};

/** Resolves to whether a service's own server answers. `probePort`: of /live */
export const answersAt =
  (probePort: number): Watched['answers'] =>
  () =>
    fetch(`http://127.0.0.1:${probePort}/live`, { signal: AbortSignal.timeout(LOOK_MS) }).then(
      () => true,
      () => false,
    );

/**
 * Ends a service that has answered and then answers nothing for half a minute, so that its supervision starts it again.
 * A service whose event loop is blocked ends itself; a process that is stopped cannot. Until the signal is aborted.
 */
export const endFrozen = async (
  { service, answers }: Watched,
  { onLine, pause, signal }: FrozenDeps,
): Promise<void> => {
  let answered: number | null = null;
  let missed = 0;
  while (!signal.aborted) {
    const pid = service.pid();
    const [isAnswered] = await Promise.all([answers(), pause(LOOK_MS)]);
    if (isAnswered) answered = pid;
    missed = isAnswered || pid === null || pid !== answered ? 0 : missed + 1;
    if (missed === MISSED && !signal.aborted) {
      onLine(
        `${service.name} has not answered for ${(MISSED * LOOK_MS) / 1000} s and is ended: its process stands still`,
      );
      service.kill('SIGKILL');
      missed = 0;
    }
  }
};

/** `pause`: resolves after so many milliseconds, or when the signal is aborted. */
export type FrozenDeps = {
  readonly onLine: (line: string) => void;
  readonly pause: (ms: number) => Promise<unknown>;
  readonly signal: AbortSignal;
};

/** `pause` of a running system. */
export const pauseUntil =
  (signal: AbortSignal): FrozenDeps['pause'] =>
  (ms) =>
    sleep(ms, undefined, { signal, ref: false }).catch(() => {});
