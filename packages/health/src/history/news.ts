import type { ToolCall } from '@vigil/events';
import type { Beat } from './moment.ts';
import { advances, declared, type Progress, remembering } from './progress.ts';

/** What of a heartbeat ends errors and vain work. */
export type News = {
  /** a new checkpoint, a work update or comment, an ACCEPT */
  readonly declared: boolean;
  /** of each call, whether it went well and brought something new: that the same fails in another way is nothing new here */
  readonly calls: readonly boolean[];
};

const NONE: readonly boolean[] = [];

/** `before`: progress as it was before this heartbeat, so that each call is compared with those before it. */
export function newsOf(before: Progress, beat: Beat): News {
  return { declared: declared(before, beat), calls: beat.tool_calls.length === 0 ? NONE : newCalls(before, beat) };
}

function newCalls({ results: before }: Progress, { tool_calls: calls }: Beat): readonly boolean[] {
  let results = before;
  return calls.map((call: ToolCall) => {
    const fresh = call.outcome === 'ok' && advances(call, results);
    results = remembering(results, call);
    return fresh;
  });
}
