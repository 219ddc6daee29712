import type { WorkItem } from '@vigil/events';
import type { Logger, MachineClock } from './clock.ts';
import type { Gateway, Reach } from './gateway/gateway-client.ts';
import type { Outbox } from './gateway/outbox.ts';
import type { ClientAdapter } from './orders/client-control.ts';
import type { OrderEnvelope } from './orders/order.ts';
import type { PolicyPatternCache } from './output/policy-patterns.ts';
import type { AgentCgroups } from './process/cgroup.ts';
import type { Pid } from './process/proc.ts';
import type { Journal } from './state/journal.ts';

type BaseDeps = { readonly clock: MachineClock; readonly logger: Logger };

/** The machine that the agents run on. */
export type HostDeps = BaseDeps & {
  /** state that outlives the supervisor: locks, journal, outbox, archives */
  readonly dir: string;
  /** sockets of agents, and what those of other users share with their supervisor */
  readonly socketDir: string;
  readonly self: Pid;
  readonly cgroups: AgentCgroups;
  /** from SIGTERM to SIGKILL, milliseconds */
  readonly killAfterMs: number;
};

/** Where an order's receipt is recorded and sent from. */
export type ReceiptDeps = BaseDeps & { readonly journal: Journal; readonly outbox: Outbox };

/** The way to the gateway, and what to do with its answers. */
export type GatewayDeps = BaseDeps & {
  readonly gateway: Gateway;
  /** the gateway accepts an agent's heartbeats from now on, or does not */
  readonly onReach: (agentId: string, reach: Reach) => void;
  /** orders that came with a heartbeat's answer */
  readonly onOrders: (orders: readonly OrderEnvelope[]) => void;
};

/** What an agent's monitor needs beside the gateway. */
export type MonitorDeps = GatewayDeps & {
  readonly dir: string;
  readonly socketDir: string;
  readonly outbox: Outbox;
  readonly policyPatterns: PolicyPatternCache;
  /** the clients whose screens and output streams are understood, and whose turns and sessions orders may interrupt and resume */
  readonly clients: readonly ClientAdapter[];
  /** the work item of a task, as the host's tracker reports it; null: the tracker reports none */
  readonly workOf: (taskId: string | null) => WorkItem | null;
};

/** All that one agent needs. */
export type AgentDeps = HostDeps & ReceiptDeps & MonitorDeps;

/** All that a runtime needs to start agents. */
export type RuntimeDeps = AgentDeps & { readonly newId: () => string };
