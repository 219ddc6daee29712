import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, the longest first. A file that starts last runs alone at the end, while the other core
 * is idle. Without this list a new clone runs large files first, and the longest ones are among the smallest.
 */
export const SLOWEST: readonly string[] = [
  'packages/supervisor/src/terminal/foreground.test.ts',
  'packages/cli/src/detached.test.ts',
  'packages/cli/src/commands/supervise/run-reach.test.ts',
  'packages/supervisor/src/runtime/orphaned-agents.test.ts',
  'packages/supervisor/src/agent/resume-session.test.ts',
  'packages/supervisor/src/exit/previous-run.test.ts',
  'test/same-decisions/same-decisions.test.ts',
  'packages/supervisor/src/runtime/lost-terminals.test.ts',
  'packages/supervisor/src/process/leftover-processes.test.ts',
  'packages/supervisor/src/agent/streams.test.ts',
  'packages/supervisor/src/typing/never.test.ts',
  'packages/supervisor/src/typing/type-text.test.ts',
  'packages/supervisor/src/agent/ends.test.ts',
  'packages/cli/src/main.test.ts',
  'services/gateway/src/http/others.property.test.ts',
  'packages/stream/src/kafka/log.it.test.ts',
  'test/crash/broker.it.test.ts',
  'test/examples/examples.it.test.ts',
  'test/sdk/sdk.it.test.ts',
  'test/recovery/deaths.it.test.ts',
  'test/crash/services.it.test.ts',
  'test/crash/three-brokers.it.test.ts',
  'test/acting/flood.it.test.ts',
  'test/blindness/blindness.it.test.ts',
  'test/page/page.it.test.ts',
];

type Specification = {
  readonly moduleId: string;
  readonly project: { readonly config: { readonly sequence: { readonly groupOrder: number } } };
};

const rankOf = ({ moduleId }: Specification): number => {
  const rank = SLOWEST.findIndex((file) => moduleId.endsWith(`/${file}`));
  return rank === -1 ? SLOWEST.length : rank;
};

const groupOf = ({ project }: Specification): number => project.config.sequence.groupOrder;

/** Groups keep their order. In each, the slowest files come first, and the others as they were. */
export const slowestFirst = <T extends Specification>(files: readonly T[]): T[] =>
  files.toSorted((one, other) => groupOf(one) - groupOf(other) || rankOf(one) - rankOf(other));

/** Vitest's own order, with the slowest files first. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return slowestFirst(await super.sort(files));
  }
}
