export type { AgentSpec, NudgeBy, World } from './agent.ts';
export type { Log, MachineClock } from './clock.ts';
export { AlreadySupervised, WrongSettings } from './errors.ts';
export type { Seat } from './foreground.ts';
export { defaultPatterns } from './patterns.ts';
export { run } from './run.ts';
export { type Runtime, type RuntimeSettings, startRuntime } from './runtime.ts';
export {
  parseRuntimeConfig,
  type RuntimeConfig,
  readRuntimeConfig,
  type Template,
  templateFor,
  watchingOf,
} from './runtime-config.ts';
export { type OpenWorld, openWorld, type WorldSettings } from './world.ts';
