export { type Evaluated, evaluate, type Recorded } from './evaluate.ts';
export { EXEMPTIONS, type ExemptionName } from './exemptions.ts';
export { type Explained, type Explanation, explain } from './explain.ts';
export { type AgentHealth, agentHealth, type Observation, type Said } from './health.ts';
export { OlderInstance } from './observe.ts';
export { NameALoadedPolicy, type Policies, policiesOf } from './policies.ts';
export { VOCABULARY } from './rules.ts';
export { SIGNALS, type SignalName } from './signals/all.ts';
export { type AgentState, STATE_SHAPE } from './state.ts';
