/** The text of a nudge whose policy sets none: the finding, and the next step. */
export const NUDGE = `Vigil watches this session and has found a problem. {finding}
{advice}
If you cannot continue, write what blocks you, or write a checkpoint and ask for a handoff.`;

/** The probe requests only a sign of life. */
export const PROBE = 'Are you there? Answer with the word {nonce} to continue your work.';

/** Sent at the prompt after an interrupt. `{finding}` is the finding, described for the agent. */
export const INTERRUPTED =
  'REMINDER: Your turn was interrupted because it hung. {finding} Check what is already done, then continue with your task.';

/** The first prompt of a restarted session. */
export const RESUMED =
  'REMINDER: Your session hung and was started again. {finding} Check what is already done, do not repeat it, and continue with your task.';

export const HANDOFF = 'Please write a checkpoint with the work done and the work left, then stop.';

export const RETRY = 'The pause is over. Please continue with your task.';
