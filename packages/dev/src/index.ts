export { type Fleet, type FleetOptions, startFleet } from './fleet/fleet.ts';
export { bundleOf } from './paths.ts';
export type { Broker } from './servers/broker.ts';
export { type Cluster, startCluster } from './servers/cluster.ts';
export { Refusal } from './servers/refusal.ts';
export {
  type Servers,
  type ServersEnv,
  type StartServersOptions,
  startServers,
  type TestServers,
  testServers,
} from './servers/servers.ts';
export { type ProcessEvent, type ProcessSpec, type Supervised, supervise } from './supervise.ts';
export { prepareServers } from './system/prepare-servers.ts';
export { type ClientEnv, SERVICES, type ServiceName, type SystemPorts } from './system/services.ts';
export { type System, type SystemOptions, startSystem } from './system/start-system.ts';
