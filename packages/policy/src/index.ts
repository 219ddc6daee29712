export { canonicalJson, contentHash } from './canonical.ts';
export { compile, loadPolicy } from './compile.ts';
export type {
  Axis,
  Band,
  BreakerName,
  CompiledPlan,
  CompiledPolicy,
  JudgedState,
  Term,
  Ticketing,
  TicketSeverity,
  Together,
  Use,
  Vocabulary,
} from './compiled.ts';
export { BREAKER_NAMES } from './compiled.ts';
export { duration, parseDuration, spell } from './duration.ts';
export { CorrectThePolicy } from './errors.ts';
export { excludes } from './exclude.ts';
export { PRESETS, readPolicies, republished } from './files.ts';
export type { BreakerLimits, Plan, RecoverySettings, Step } from './plan.ts';
export { HANDOFF } from './texts.ts';
