export type { AgentSpec, NudgeBy, World } from './agent.ts';
export type { Log, MachineClock } from './clock.ts';
export { AlreadySupervised, WrongSettings } from './errors.ts';
export type { Seat } from './foreground.ts';
export type { LimitSettings } from './limits.ts';
export { run } from './run.ts';
export { type Runtime, type RuntimeSettings, startRuntime } from './runtime.ts';
export {
  parseRuntimeConfig,
  plainWatching,
  type RuntimeConfig,
  readRuntimeConfig,
  type Template,
  templateFor,
  watchingOf,
} from './runtime-config.ts';
export { parseSize } from './size.ts';
export { type OpenWorld, openWorld, type WorldSettings } from './world.ts';
