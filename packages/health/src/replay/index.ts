export { type Child, ChildEnded, ChildFailed, inChild, reportToParent } from './child.ts';
export type { Decided } from './decided.ts';
export { type PublishedDocument, type Substitute, UnknownRules } from './documents.ts';
export { CorrectTheFile, type Exported, exportSpan, fileSource, isExportedSpan } from './file.ts';
export { logSource, type Part, partSource, type ReplayProgress } from './log-source.ts';
export { NoRules } from './partition-replay.ts';
export type { ReplaySource, Span } from './source.ts';
export { type Difference, joined, type Verified, verify } from './verification.ts';
export { type Compared, type DifferentAgent, type Outcome, type Side, type WhatIf, whatIf } from './what-if.ts';
