/** This record cannot be read or decided: it goes to the dead-letter topic with `reason`, and the rest flows on. */
export class DeadLetter extends Error {
  override readonly name = 'DeadLetter';
  readonly reason: string;
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * A dead letter whose sender is at fault, as is to be expected of senders: no sign of trouble here, so it does not count towards
 * stopping. `state`, where it is given: what is to be kept of the record all the same, and decided on.
 */
export class Unwelcome extends DeadLetter {
  readonly state: unknown;
  constructor(reason: string, message: string, state?: unknown) {
    super(reason, message);
    this.state = state;
  }
}

/**
 * Somebody else owns it now, or it is away for a moment: throw away what was in hand, open it anew, ask again. `afterMs`: how long a
 * reaction waits, where it knows better than the runner's own back-off.
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

/** Only a new process helps: it ends with code 1 and its supervisor starts it again. */
export class Fatal extends Error {
  override readonly name = 'Fatal';
  readonly exitCode = 1;
}

/** Starting again changes nothing: the process ends with code 2, and somebody must do what the message says. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly exitCode = 2;
}
