import type { AgentSpec } from '../agent/agent-spec.ts';
import { monitoringOf, type RuntimeConfig, type Template } from './runtime-config.ts';

/** Beside the configuration: the place and the identity. */
export type RuntimeSettings = {
  readonly config: RuntimeConfig;
  readonly host: string;
  /** the environment that agents inherit, without secrets of the runtime */
  readonly env: Readonly<Record<string, string>>;
};

/** What an instance is requested by. */
export type InstanceRequest = Pick<
  AgentSpec,
  'agentId' | 'taskId' | 'attempt' | 'maxAttempts' | 'labels' | 'checkpoint' | 'handover' | 'orderId'
>;

/** An instance as its template describes it. */
export const specOf = (
  instance: InstanceRequest,
  template: Template,
  { config, host, env }: RuntimeSettings,
  instanceId: string,
): AgentSpec => ({
  ...instance,
  ...monitoringOf(template, instance.agentId, instance.taskId),
  instanceId,
  runtimeId: config.runtime,
  policy: template.policy ?? config.policy ?? null,
  labels: { host, ...config.labels, ...instance.labels },
  parentAgentId: null,
  command: template.command,
  args: template.args,
  cwd: template.cwd,
  env: { ...env, ...template.env },
  checkpointRoots: config.checkpoint_roots,
  intervalMs: config.interval ?? null,
});
