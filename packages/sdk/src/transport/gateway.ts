import { call, type Gateway } from './http.ts';
import { openMail } from './mail.ts';
import type { Over } from './transport.ts';

/** Heartbeats by HTTP to the gateway; orders come back with its answers. */
export const overGateway =
  (gateway: Gateway): Over =>
  (line) => {
    const mail = openMail(gateway, line);
    return {
      local: false,
      send: (heartbeat, signal) => mail.collect(() => call(gateway, '/v1/heartbeats', signal, heartbeat)),
      policy: mail.policy,
      close: async () => {},
    };
  };
