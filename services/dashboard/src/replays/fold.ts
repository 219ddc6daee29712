import { VOCABULARY } from '@vigil/health';
import {
  type Difference,
  type DifferentAgent,
  figuresOf,
  logSource,
  type ReplayProgress,
  type Span,
  type Verified,
  verify,
  type WhatIf,
  whatIf,
} from '@vigil/health/replay';
import { republished } from '@vigil/policy';
import type { ReplayDifference, ReplayedAgent, ReplayResult, VerifyResult, WhatIfResult } from '@vigil/read-model';

/** What to fold again. `document`: the other policy, as canonical JSON. It is sent to a process, so it is plain data. */
export type ReplaySpec =
  | { readonly kind: 'verify'; readonly span: Span }
  | { readonly kind: 'what_if'; readonly span: Span; readonly document: string; readonly insteadOf: string | 'all' }
  | {
      readonly kind: 'figures';
      readonly span: Span & { readonly from: number; readonly to: number; readonly agent: string };
    };

/** A span to be written as a file. */
export type ExportSpec = { readonly kind: 'export'; readonly span: Span };

/** The memory of a dashboard is for everyone: a result has so many agents, and outcomes of each. */
const MOST_AGENTS = 100;
const MOST_OUTCOMES = 50;
/** Times in a span for which the figures of signals are kept. */
const MOST_FIGURES = 500;
/** Outcomes before the first difference. */
const BEFORE = 10;

const eventIn = (decided: Difference['recorded']) =>
  decided === null ? null : { type: decided.type, payload: decided.payload };

const differenceOf = ({ recorded, decided, ...difference }: Difference): ReplayDifference => ({
  ...difference,
  recorded: eventIn(recorded),
  decided: eventIn(decided),
});

const agentOf = ({ agent, outcomes, differsFrom }: DifferentAgent): ReplayedAgent => {
  const before = Math.max(0, outcomes.findIndex(({ isSame }) => !isSame) - BEFORE);
  const shown = outcomes.slice(before, before + MOST_OUTCOMES);
  return { agent, outcomes: shown, leftOut: { before, after: outcomes.length - before - shown.length }, differsFrom };
};

const earlierOf = (earlier: readonly string[]) => ({
  earlierCount: earlier.length,
  earlier: earlier.slice(0, MOST_AGENTS),
});

/** What is kept of a verification. */
export const verifyResult = ({ differences, earlier, ...counts }: Verified): VerifyResult => ({
  kind: 'verify',
  ...counts,
  ...earlierOf(earlier),
  differentCount: differences.length,
  differences: differences.slice(0, MOST_AGENTS).map(differenceOf),
});

/** What is kept of a comparison. */
export const whatIfResult = ({ different, earlier, ...counts }: WhatIf): WhatIfResult => ({
  kind: 'what_if',
  ...counts,
  ...earlierOf(earlier),
  differentCount: different.length,
  different: different.slice(0, MOST_AGENTS).map(agentOf),
});

/** Folds a span of a log as `vigil replay` does. Throws UnknownRules or NoRules. */
export const foldAgain = async (
  log: Parameters<typeof logSource>[0],
  spec: ReplaySpec,
  onProgress: ReplayProgress,
  signal: AbortSignal,
): Promise<ReplayResult> => {
  const source = await logSource(log, spec.span, onProgress);
  switch (spec.kind) {
    case 'verify':
      return verifyResult(await verify(source, signal));
    case 'what_if': {
      const policy = republished(spec.document, VOCABULARY);
      return whatIfResult(await whatIf(source, { policy, insteadOf: spec.insteadOf }, signal));
    }
    case 'figures': {
      const { from, to, agent } = spec.span;
      return {
        kind: 'figures',
        ...(await figuresOf(source, agent, Math.ceil((to - from + 1) / MOST_FIGURES), signal)),
      };
    }
  }
};
