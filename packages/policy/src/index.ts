export { lostAfter } from './compile/brake.ts';
export { type Checked, checkFiles } from './compile/check.ts';
export { compile, loadPolicy, parseYaml } from './compile/compile.ts';
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
} from './compile/compiled.ts';
export { BREAKER_NAMES, excusesUntil } from './compile/compiled.ts';
export { type Difference, differences } from './compile/differences.ts';
export { closerInterval, judgedInterval, SHORTEST_INTERVAL_MS } from './compile/interval.ts';
export { recoveryDocument, USUAL_ATTEMPTS } from './document/document.ts';
export { assignmentSchema, policySchema } from './document/json-schema.ts';
export { limitAfter, longCalls } from './document/long-calls.ts';
export { CorrectThePolicy, place, reading, spelled } from './document/mistakes.ts';
export {
  type BreakerLimits,
  type Plan,
  type PlannedStep,
  type RecoverySettings,
  type Step,
  stepOf,
  stepRecord,
  type UnknownStep,
} from './document/plan.ts';
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
} from './document/spending.ts';
export { documentsOf } from './document/yaml.ts';
export {
  ASSIGNMENT,
  type Assigned,
  type Assignment,
  asRequested,
  assigner,
  isAssignable,
  notPermitted,
  type Requestable,
  readAssignment,
  unknownIn,
} from './sets/assignment.ts';
export { PRESETS, presetNames, readPolicies, readPolicySet, republished } from './sets/files.ts';
export {
  type Application,
  applied,
  type HeldPolicy,
  type PolicySet,
  type Provenance,
  policySet,
} from './sets/policy-set.ts';
export { canonicalJson, contentHash } from './values/canonical.ts';
export { brief, parseDuration, spell } from './values/duration.ts';
export { duration } from './values/duration-type.ts';
export { excludes, inAnyCase, Pattern, pattern, patternInAnyCase, readable } from './values/patterns.ts';
export { insteadOf, nearest } from './values/spelling.ts';
export { matches, type TemplateFit, templateFits } from './values/template-fit.ts';
export { HANDOFF } from './values/texts.ts';
export { utcTime } from './values/time.ts';
