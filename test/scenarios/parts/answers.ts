export const HANDOFF = 'the rest needs an agent that knows the parser';
/** It reads like a text of Vigil's own. */
export const BLOCKER = 'no access to the registry"; without an answer: pardon';
