const REVIEWS: Readonly<Record<string, (about: string) => string>> = {
  retry: (task) => `Starts one more attempt of ${task} at once; if it fails, the task waits for review again.`,
  reset: (task) => `Starts ${task} again at once, and counts its attempts from one: all of them are available again.`,
  abandon: (task) => `Gives ${task} up: no agent continues it, and its alert ends.`,
};

const CASES: Readonly<Record<string, (about: string) => string>> = {
  allow_more_time: (agent) =>
    `No plan acts on ${agent} for this time. Without progress the next step of its plan follows then.`,
  force_handoff: (agent) => `Asks ${agent} to write a checkpoint; then another agent continues its task.`,
  terminate_and_recover: (agent) => `Ends ${agent}; another agent continues its task from its last checkpoint.`,
  pardon: (agent) => `Closes the case without a step: ${agent} continues its work.`,
};

const textOf = (texts: typeof CASES, decision: string, about: string): string | null =>
  Object.hasOwn(texts, decision) ? (texts[decision]?.(about) ?? null) : null;

/** What happens after the decision about a task in review, in one sentence; null: of an unknown decision. */
export const reviewText = (decision: string, taskId: string): string | null => textOf(REVIEWS, decision, taskId);

/** What happens after the decision of a case, in one sentence; null: of an unknown decision. */
export const caseDecisionText = (decision: string, agentId: string): string | null => textOf(CASES, decision, agentId);
