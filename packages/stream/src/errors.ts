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
 * A dead letter that is the sender's fault. It is not a sign of trouble here, so it does not count towards stopping.
 * `state`: the part of the record that is kept and decided on, where there is one.
 */
export class Unwelcome extends DeadLetter {
  readonly state: unknown;
  constructor(reason: string, message: string, state?: unknown) {
    super(reason, message);
    this.state = state;
  }
}

/**
 * Another process owns it now, or it is away for a moment: discard the work in progress, open it again, try again.
 * `afterMs`: how long a reaction waits, where it has a better value than the runner's back-off.
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

/**
 * A restart changes nothing: the process ends with code 2, and an operator must do what the message describes. Any error
 * with `exitCode: 2` counts as one.
 */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly exitCode = 2;
}
