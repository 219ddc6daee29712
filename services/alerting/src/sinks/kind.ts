import type { z } from 'zod';
import type { Sink } from '../delivery/sink.ts';

/** What a sink reaches the world by: arguments, so that tests give their own. */
export type SinkDeps = {
  /** epoch milliseconds */
  readonly now: () => number;
  /** the environment: it holds the secrets, the file does not */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** where decisions are posted */
  readonly dashboardUrl: string;
};

/**
 * A kind of sink in one file: the settings of its channels, and how to open one. `open` throws Refused with what to
 * do.
 */
export type Kind<Settings extends z.ZodType> = {
  readonly settings: Settings;
  readonly open: (name: string, settings: z.output<Settings>, deps: SinkDeps) => Sink;
};
