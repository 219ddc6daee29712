export type { AgentSpec, NudgeBy, World } from './agent.ts';
export type { Log, MachineClock } from './clock.ts';
export { AlreadySupervised, GatewayRefused, WrongSettings } from './errors.ts';
export type { Seat } from './foreground.ts';
export { type Address, connectGateway, type Gateway } from './gateway-client.ts';
export type { Supervised } from './life.ts';
export type { LimitSettings } from './limits.ts';
export { checkFree, occupantOf } from './lock.ts';
export * from './notice/terminal-notice.ts';
export { askReach, isSameReach, type Reach } from './reach.ts';
export { type Detached, run, runDetached } from './run.ts';
export { type Runtime, startRuntime } from './runtime.ts';
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
export type { RuntimeSettings } from './templated.ts';
export { type Over, openView, stopAgent, type View } from './view.ts';
export { type OpenWorld, openWorld, type WorldSettings } from './world.ts';
