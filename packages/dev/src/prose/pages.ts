import { globSync } from 'node:fs';

/** Pages that do not pass yet. The list only shrinks: a page that passes must leave it. */
export const UNFINISHED: readonly string[] = [
  'docs/accuracy.md',
  'docs/bad-input.md',
  'docs/benchmarks.md',
  'docs/clients.md',
  'docs/clients/claude-code.md',
  'docs/clients/codex.md',
  'docs/clients/gemini-cli.md',
  'docs/corrections-stream.md',
  'docs/corrections.md',
  'docs/decisions/2026-11-22-a-finding-says-what-ends-it.md',
  'docs/decisions/2026-11-22-a-spawn-begins-in-half-its-deadline.md',
  'docs/decisions/2026-11-22-a-tick-is-written-down-at-once.md',
  'docs/decisions/2026-11-22-a-warrant-carries-its-plan.md',
  'docs/decisions/2026-11-22-an-agent-outlives-its-supervisor.md',
  'docs/decisions/2026-11-22-each-plan-is-worked-once-an-episode.md',
  'docs/decisions/2026-11-22-every-order-needs-a-ruling.md',
  'docs/decisions/2026-11-22-unreadable-input-stops-nothing.md',
  'docs/decisions/2026-11-22-policies-are-applied-in-order.md',
  'docs/decisions/2026-11-22-presets-where-the-sources-leave-room.md',
  'docs/decisions/2026-11-22-the-hook-runs-on-the-machines-own-node.md',
  'docs/decisions/2026-11-22-what-an-agents-state-may-hold.md',
  'docs/decisions/2026-11-22-what-idleness-does-not-excuse.md',
  'docs/decisions/2026-11-22-who-is-told-stands-in-the-alert.md',
  'docs/decisions/2026-11-23-a-halt-recalls-orders-that-have-not-started.md',
  'docs/decisions/2026-11-23-a-handoff-by-hand-is-only-a-handoff.md',
  'docs/decisions/2026-11-23-a-hung-session-is-resumed-once.md',
  'docs/decisions/2026-11-23-a-silent-runtime-is-trusted-for-a-while.md',
  'docs/decisions/2026-11-23-a-spawn-waits-for-a-template.md',
  'docs/decisions/2026-11-23-a-turn-says-whether-output-counts.md',
  'docs/decisions/2026-11-23-an-agent-without-a-runtime-ends-itself.md',
  'docs/decisions/2026-11-23-events-of-a-newer-version-are-passed-over.md',
  'docs/decisions/2026-11-23-long-silence-ends-an-agent.md',
  'docs/decisions/2026-11-23-no-data-of-one-agent-is-deleted.md',
  'docs/decisions/2026-11-23-only-a-reported-activity-is-idle.md',
  'docs/decisions/2026-11-23-replicas-are-set-when-a-topic-is-made.md',
  'docs/decisions/2026-11-23-the-brake-does-not-wait-for-known-deaths.md',
  'docs/decisions/2026-11-23-time-follows-a-mended-clock-back.md',
  'docs/decisions/2026-11-23-typing-by-the-screen.md',
  'docs/decisions/2026-11-23-what-a-client-reports-where.md',
  'docs/decisions/2026-11-23-what-ends-a-call-without-its-hook.md',
  'docs/decisions/2026-11-23-what-telemetry-counts.md',
  'docs/examples/README.md',
  'docs/peers.md',
  'docs/policies.md',
  'docs/three-brokers.md',
  'docs/topics.md',
  'test/clients/recordings/README.md',
  'test/laws/README.md',
  'test/scenarios/README.md',
];

/** Text of others, kept as it is. */
const isForeign = (file: string): boolean => /(^|\/)(node_modules|recordings\/.*\/|\.[a-z-]+)(\/|$)/.test(file);

/** Every page of the repository, relative to `root`. */
export const pagesOf = (root: string): readonly string[] =>
  globSync('**/*.md', { cwd: root, exclude: isForeign }).sort();
