export {
  ASSIGNMENT,
  type Assigned,
  type Assignment,
  assigner,
  asWished,
  readAssignment,
  unknownIn,
} from './assignment.ts';
export { lostAfter } from './brake.ts';
export { canonicalJson, contentHash } from './canonical.ts';
export { type Checked, checkFiles } from './check.ts';
export { compile, loadPolicy, parseYaml } from './compile.ts';
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
export { type Difference, differences } from './differences.ts';
export { USUAL_ATTEMPTS } from './document.ts';
export { brief, parseDuration, spell } from './duration.ts';
export { duration } from './duration-schema.ts';
export { CorrectThePolicy } from './errors.ts';
export { excludes } from './exclude.ts';
export { PRESETS, readPolicies, readPolicySet, republished } from './files.ts';
export { IMPORT_KINDS, type Imported, type ImportKind, importPolicy } from './importers/importers.ts';
export { migrateBotbox } from './importers/migrate-botbox.ts';
export type { Unmapped } from './importers/settings.ts';
export { assignmentSchema, policySchema } from './json-schema.ts';
export { reading, spelled } from './mistakes.ts';
export { Pattern, pattern, patternInAnyCase } from './patterns.ts';
export type { BreakerLimits, Plan, RecoverySettings, Step } from './plan.ts';
export {
  type Application,
  applied,
  type HeldPolicy,
  type PolicySet,
  type Provenance,
  policySet,
} from './policy-set.ts';
export { insteadOf, nearest } from './spelling.ts';
export {
  limitReached,
  type ModelTokens,
  refusalFor,
  type Spending,
  type SpendingLimit,
  type Spent,
  spendingDocument,
  spentOf,
  unknownCost,
} from './spending.ts';
export { type TemplateFit, templateFits } from './template-fit.ts';
export { HANDOFF } from './texts.ts';
