import { z } from 'zod';
import {
  CorrectTheRun,
  instant,
  must,
  name,
  orNull,
  type RecordedCall,
  type RecordedRun,
  readAs,
  recordedCall,
  shown,
} from './run.ts';

/**
 * The Agent Trajectory Interchange Format of the Harbor project, ATIF-v1.0 to v1.7, with the parts that concern calls:
 * https://www.harborframework.com/docs/trajectory-format
 */
const VERSION = /^ATIF-v1\.\d+$/;

const part = z.object({ text: z.string().nullish() });
/** Images are omitted. */
const content = z
  .union(
    [z.string(), z.array(part).transform((parts) => parts.flatMap(({ text }) => text ?? []).join('\n'))],
    must('no content', 'a text, or a list of parts with text'),
  )
  .nullish();

const toolCall = z.object(
  {
    tool_call_id: name,
    function_name: z.string(must('no text', 'the tool’s name')),
    arguments: orNull(z.unknown()),
  },
  must('no call', 'an object with function_name'),
);

const result = z.object(
  { source_call_id: name, content, extra: orNull(z.object({ is_error: z.boolean().nullish().catch(null) })) },
  must('no result', 'an object with source_call_id and content'),
);

const count = orNull(z.number(must('no count', 'a number, or leave it out')));

/** ISO 8601; a time without a zone is UTC. */
const timestamp = z.preprocess(
  (value) => (typeof value === 'string' && /T[\d:.]+$/.test(value) ? `${value}Z` : value),
  orNull(instant),
);

const step = z.object(
  {
    timestamp,
    tool_calls: orNull(z.array(toolCall, must('no list', 'the list of the step’s calls'))),
    observation: orNull(z.object({ results: orNull(z.array(result)) })),
    metrics: orNull(z.object({ prompt_tokens: count, completion_tokens: count })),
    is_copied_context: orNull(z.boolean()),
  },
  must('no step', 'an object'),
);

const trajectory = z.object(
  {
    schema_version: orNull(z.string()),
    session_id: name,
    trajectory_id: name,
    agent: orNull(z.object({ name })),
    steps: z.array(step, must('no list', 'the list of the trajectory’s steps')),
    subagent_trajectories: orNull(z.array(z.unknown())),
  },
  must('no trajectory', 'an object with schema_version and steps'),
);

type Trajectory = z.output<typeof trajectory>;
type Step = z.output<typeof step>;
type Result = z.output<typeof result>;

/** Whether an entry declares itself a trajectory, of any version. */
export const isTrajectory = (entry: Readonly<Record<string, unknown>>): boolean =>
  typeof entry.schema_version === 'string' && entry.schema_version.startsWith('ATIF');

/**
 * A step's results that name no call belong to all its calls, so they are assigned to the last call without a result.
 */
const resultsOf = ({ tool_calls, observation }: Step): readonly (Result | undefined)[] => {
  const results = observation?.results ?? [];
  const calls = tool_calls ?? [];
  const own = calls.map(({ tool_call_id: id }) => results.find((one) => id !== null && one.source_call_id === id));
  const rest = results.filter(({ source_call_id }) => source_call_id === null);
  const last = own.lastIndexOf(undefined);
  const texts = rest.flatMap((one) => one.content ?? []);
  if (last === -1 || texts.length === 0) return own;
  return own.with(last, { source_call_id: null, content: texts.join('\n'), extra: rest[0]?.extra ?? null });
};

/** The total tokens at the end of each step; null if unknown, or without a time. */
const tokensOf = (steps: readonly Step[]): readonly (number | null)[] => {
  let sum = 0;
  return steps.map(({ metrics, timestamp }) => {
    if (metrics?.prompt_tokens == null && metrics?.completion_tokens == null) return null;
    sum += Math.max(0, Math.round((metrics.prompt_tokens ?? 0) + (metrics.completion_tokens ?? 0)));
    return timestamp === null ? null : sum;
  });
};

/** A call with a known tool and nothing else. */
const UNKNOWN = recordedCall.parse({ tool: '' });

/** Steps that were copied from an earlier trajectory do not count here. */
const callsOf = ({ steps }: Trajectory): readonly RecordedCall[] => {
  const own = steps.filter(({ is_copied_context }) => is_copied_context !== true);
  const tokens = tokensOf(own);
  return own.flatMap((one, i) => {
    const results = resultsOf(one);
    return (one.tool_calls ?? []).map(
      (call, nth): RecordedCall => ({
        ...UNKNOWN,
        tool: call.function_name,
        args: call.arguments,
        result: results[nth]?.content ?? null,
        err: results[nth]?.extra?.is_error ?? null,
        ts: one.timestamp,
        call_id: call.tool_call_id,
        token_count: tokens[i] ?? null,
      }),
    );
  });
};

const UNNAMED = 'trajectory';

const runsOf = (entry: unknown, parent: string | null): readonly RecordedRun[] => {
  const read = readAs(trajectory, entry);
  const version = read.schema_version;
  if (parent === null && !VERSION.test(version ?? ''))
    throw new CorrectTheRun(`schema_version: ${shown(version)} is not known: give ATIF-v1.0 to ATIF-v1.7`);
  const own = read.trajectory_id ?? read.session_id ?? UNNAMED;
  const run_id = parent === null ? (read.session_id ?? own) : `${parent}:${own}`;
  const src = read.agent?.name ?? 'atif';
  const run = {
    run_id,
    src,
    agent: null,
    task: null,
    success: null,
    label: null,
    cut_off: false,
    ended_at: null,
    calls: [...callsOf(read)],
  };
  return [run, ...(read.subagent_trajectories ?? []).flatMap((one) => runsOf(one, run_id))];
};

/** The runs in an ATIF trajectory: its own, and those of the sub-agents that it contains. Throws CorrectTheRun. */
export const readTrajectory = (entry: unknown): readonly RecordedRun[] => runsOf(entry, null);
