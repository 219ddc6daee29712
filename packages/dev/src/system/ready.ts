import { setTimeout as sleep } from 'node:timers/promises';
import type { Supervised } from '../processes/supervise.ts';
import { Refusal } from '../servers/refusal.ts';

const READY_LIMIT_MS = 180_000;

const answersReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(1_000) }).then(
    (response) => response.ok,
    () => false,
  );

/** Resolves when the service is ready. @throws Refusal when it refuses to run, or is not ready within three minutes */
export const untilReady = async (
  service: Supervised,
  probePort: number,
  logs: string,
  signal: AbortSignal,
): Promise<void> => {
  for (
    const late = AbortSignal.timeout(READY_LIMIT_MS);
    !(await answersReady(probePort));
    await sleep(100, undefined, { signal })
  ) {
    if (service.isRefused()) throw new Refusal(`${service.name} refuses to run: see ${logs}/${service.name}.log`);
    if (late.aborted)
      throw new Refusal(
        `${service.name} is not ready after ${READY_LIMIT_MS / 1000} s: see ${logs}/${service.name}.log`,
      );
  }
};
