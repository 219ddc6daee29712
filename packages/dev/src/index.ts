export type { Broker } from './servers/broker.ts';
export { Refusal } from './servers/refusal.ts';
export {
  type Servers,
  type ServersEnv,
  type StartServersOptions,
  startServers,
  type TestServers,
  testServers,
} from './servers/servers.ts';
