/**
 * The record cannot be read or decided. It goes to the dead-letter topic with `reason`, and the other records continue.
 */
export class DeadLetter extends Error {
  override readonly name = 'DeadLetter';
  readonly reason: string;
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * A dead letter that is the sender's fault. It is not a fault of this service, so it does not count towards the limit
 * of dead letters. `state`: the state to keep and decide on, if part of the record is usable.
 */
export class Unwelcome extends DeadLetter {
  readonly state: unknown;
  constructor(reason: string, message: string, state?: unknown) {
    super(reason, message);
    this.state = state;
  }
}

/**
 * A temporary failure: another process has taken ownership, or a server is unreachable. Discard the work in progress,
 * reopen and retry. `afterMs`: the delay before a reaction is retried; null for the runner's back-off.
 */
export class Retry extends Error {
  override readonly name = 'Retry';
  readonly afterMs: number | null;
  constructor(
    message: string,
    { afterMs = null, ...options }: ErrorOptions & { readonly afterMs?: number | null } = {},
  ) {
    super(message, options);
    this.afterMs = afterMs;
  }
}

/** Only a restart helps. The process ends with code 1, and its supervisor starts it again. */
export class Fatal extends Error {
  override readonly name = 'Fatal';
  readonly exitCode = 1;
}

/**
 * A restart does not help. The process ends with code 2, and an operator must apply the remedy in the message. The
 * runners treat any error with `exitCode: 2` in the same way.
 */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly exitCode = 2;
}
