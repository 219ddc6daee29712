/** The given settings cannot be used: correct them and start again. */
export class WrongSettings extends Error {
  override readonly name = 'WrongSettings';
}

/** The folder for Vigil's state cannot be written: make room there, or choose another one. */
export class StateUnwritable extends WrongSettings {
  constructor(dir: string, error: unknown) {
    super(
      `nothing can be written to the state folder ${dir} (${error instanceof Error ? error.message : String(error)}): make room there, or choose another --dir (VIGIL_STATE_DIR)`,
    );
  }
}

/** The name is taken: choose another, or end that agent first. */
export class AlreadySupervised extends Error {
  override readonly name = 'AlreadySupervised';
  /** false: it runs, but its supervisor has died */
  readonly isSupervised: boolean;

  constructor(message: string, isSupervised = true) {
    super(message);
    this.isSupervised = isSupervised;
  }
}

/** The host is short of files or memory, so the state of its processes is unknown: look again later. */
export class ProcessesUnknown extends Error {
  override readonly name = 'ProcessesUnknown';
}

/** The gateway cannot be reached or is busy: the same again later. */
export class GatewayAway extends Error {
  override readonly name = 'GatewayAway';
}

/** The gateway is busy, or the quota of the token is used up: the same again after `retryAfterMs`. */
export class GatewayBusy extends GatewayAway {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The token does not cover the request: correct the token or the runtime's name. Requests that it does cover are
 * accepted meanwhile.
 */
export class GatewayForbids extends GatewayAway {}

/** The gateway has refused the request: sending it again does not help. */
export class GatewayRefused extends Error {
  override readonly name = 'GatewayRefused';
  readonly status: number;
  /** the detail in the gateway's answer */
  readonly detail: string;

  constructor(message: string, status: number, detail: string) {
    super(message);
    this.status = status;
    this.detail = detail;
  }
}
