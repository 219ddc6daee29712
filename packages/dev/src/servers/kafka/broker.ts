/**
 * A broker that can be ended, frozen and started again on the same data and port, from any process that has its
 * location.
 */
export type Broker = {
  /** null while it is ended, and for one in a container */
  readonly pid: () => number | null;
  /** SIGKILL ends it at once and waits for that; SIGSTOP freezes, SIGCONT thaws */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
  /** starts it again, ended or not; resolves when it serves */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
};
