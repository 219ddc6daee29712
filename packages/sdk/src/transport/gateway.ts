import { call, type Gateway } from './http.ts';
import { openInbox } from './order-inbox.ts';
import type { OpenTransport } from './transport.ts';

/** Heartbeats by HTTP to the gateway; orders come back with its answers. */
export const overGateway =
  (gateway: Gateway): OpenTransport =>
  (deps) => {
    const inbox = openInbox(gateway, deps);
    return {
      local: false,
      send: (heartbeat, signal) => inbox.collect(() => call(gateway, '/v1/heartbeats', signal, heartbeat)),
      policy: inbox.policy,
      close: async () => {},
    };
  };
