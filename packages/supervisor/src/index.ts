export type { Supervised } from './agent/agent-instance.ts';
export type { AgentSpec, NudgeBy } from './agent/agent-spec.ts';
export { inheritedEnvironment, oftenNeededOf, WITHHELD } from './agent/inherited.ts';
export type { LimitSettings } from './agent/limits.ts';
export type { Logger, MachineClock } from './clock.ts';
export type { AgentDeps } from './deps.ts';
export { AlreadySupervised, GatewayRefused, StateUnwritable, WrongSettings } from './errors.ts';
export {
  type Address,
  connectGateway,
  type Gateway,
  isSameReach,
  probeReach as askReach,
  type Reach,
} from './gateway/gateway-client.ts';
export { WorkSource, type WorkSourceSettings } from './heartbeat/work-source.ts';
export * from './notice/terminal-notice.ts';
export { createTerminalFilter, TERMINAL_RESET } from './output/terminal-filter.ts';
export { type AgentCgroups, findCgroups } from './process/cgroup.ts';
export { findHostUser } from './process/host-user.ts';
export { openView, restartAgent, runsHere, stopAgent, type View, type ViewEnd } from './pty-host/attach.ts';
export { type DepsSettings, type OpenDeps, openDeps } from './runtime/open-deps.ts';
export { type Detached, run, runDetached } from './runtime/run.ts';
export { type Runtime, startRuntime } from './runtime/runtime.ts';
export type { RuntimeSettings } from './runtime/runtime-config.ts';
export {
  monitoringOf,
  parseRuntimeConfig,
  parseSize,
  plainMonitoring,
  type RuntimeConfig,
  readRuntimeConfig,
  type Template,
  templateFor,
  usersOf,
} from './runtime/runtime-config.ts';
export { checkFree, checkName, occupantOf } from './state/lock.ts';
export { openStateDir } from './state/own-folder.ts';
export type { ForegroundStreams } from './terminal/foreground.ts';
export { exitStatus } from './terminal/terminal.ts';
