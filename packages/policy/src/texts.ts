/** Contract text of seed 000 (ADR-110, section 3, level 1), to the letter. `{duration}` is filled in when it is sent. */
export const REMINDER = `REMINDER: You have been working for {duration} without
checkpoint update. Please either:
- Update your progress
- Request handoff if stuck
- Report blockers`;

/** The probe asks for nothing but a sign of life. */
export const PROBE = 'Are you there? Answer with the word {nonce} to go on working.';

export const HANDOFF = 'Please write a checkpoint with the work done and the work left, then stop.';

export const RETRY = 'The pause is over. Please go on with your task.';
