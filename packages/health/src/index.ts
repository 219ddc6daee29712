export { type Sweep, sweepOf } from './adapters/gascity-sweep.ts';
export { AT_REST } from './evaluator/at-rest.ts';
export { type Evaluated, evaluate, Folding, type Recorded } from './evaluator/evaluate.ts';
export { type Explained, type Explanation, explain } from './evaluator/explain.ts';
export { type AgentHealth, type Announcement, agentHealth, type Observation } from './evaluator/health.ts';
export { OlderInstance } from './evaluator/observe.ts';
export type { AgentState } from './evaluator/state.ts';
export { EXEMPTIONS, type ExemptionName } from './judgement/exemptions.ts';
export { NameALoadedPolicy, type Policies, policiesOf } from './judgement/policies.ts';
export { isTrajectory, readTrajectory } from './recorded/atif.ts';
export { type Fed, fedBy, INPUTS, type Input, inputsOfRun, inputsOfSession } from './recorded/inputs.ts';
export {
  type Change,
  type JudgedAgent,
  type JudgedRun,
  type RunJudge,
  runJudge,
  type SessionReport,
  type SessionReports,
  sessionJudge,
} from './recorded/judge.ts';
export { CorrectTheRun, type Hashing, type RecordedRun, readRun } from './recorded/run.ts';
export { SIGNALS, type SignalName } from './signals/all.ts';
export { VOCABULARY } from './vocabulary.ts';
