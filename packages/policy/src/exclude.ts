import { RE2JS } from 're2js';
import type { CompiledPolicy } from './compiled.ts';

/** Whether the policy only shows this agent. Costs a pattern match: asked when a policy is assigned, not at each heartbeat. */
export function excludes(policy: CompiledPolicy, agentId: string): boolean {
  return policy.exclude.some((pattern) => RE2JS.compile(pattern).matcher(agentId).find());
}

/** The patterns that are none, each with its reason. */
export function unreadable(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern, i) => {
    try {
      RE2JS.compile(pattern);
      return [];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [`exclude[${i}]: ${JSON.stringify(pattern)} is no RE2 pattern (${why}): correct or remove it`];
    }
  });
}
