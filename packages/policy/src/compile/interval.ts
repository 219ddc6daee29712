/** Heartbeats more often than this add no information, and cost each service the same again. Milliseconds. */
export const SHORTEST_INTERVAL_MS = 1000;

/**
 * The heartbeat interval of an agent that is watched more closely: a third of its policy's, not below
 * `SHORTEST_INTERVAL_MS`, and never longer than the policy's. Milliseconds.
 */
export const closerInterval = (intervalMs: number): number =>
  Math.min(intervalMs, Math.max(SHORTEST_INTERVAL_MS, Math.floor(intervalMs / 3)));

/**
 * The interval by which the absence of an agent is judged: the one that it reports, else its policy's. An agent that
 * was only asked to report more often is judged by its policy's. So is one that chose that interval itself, because a
 * heartbeat does not show who chose it: it counts as lost later, never sooner. Milliseconds.
 */
export const judgedInterval = (reportedMs: number | null, policyMs: number): number =>
  reportedMs === null || reportedMs === closerInterval(policyMs) ? policyMs : reportedMs;
