import type { CompiledPolicy } from '@vigil/policy';
import { hasTimes, inputsOfRun, inputsOfSession } from '../recorded/inputs.ts';
import { runJudge, type SessionReport, type SessionReports, sessionJudge } from '../recorded/judge.ts';
import type { Hashing, RecordedRun } from '../recorded/run.ts';
import type { Period, TimedCall, Work } from './findings.ts';

/** Judges of one policy at a time, because all works are judged under one before the next. */
const lastUsed = <Judge>(judgeUnder: (policy: CompiledPolicy) => Judge): ((policy: CompiledPolicy) => Judge) => {
  let last: { readonly policy: CompiledPolicy; readonly judge: Judge } | null = null;
  return (policy) => {
    if (last?.policy !== policy) last = { policy, judge: judgeUnder(policy) };
    return last.judge;
  };
};

/** Reads recorded runs as work. `gapMs`: from call to call where no times are recorded. */
export const worksOfRuns = (hashing: Hashing, gapMs: number): ((run: RecordedRun) => Work) => {
  const judgeUnder = lastUsed((policy) => runJudge(policy, hashing, gapMs));
  return (given) => {
    const run = withHashes(given, hashing);
    const ends = run.calls.map(({ ts, ended_at }) => ts ?? ended_at);
    const times = run.calls.flatMap(({ started_at }, i) => [started_at ?? ends[i], ends[i]].filter((at) => at != null));
    const origin = Math.min(...times);
    const since = (ms: number) => (ms - origin) / 1000;
    const isTimed = hasTimes(run);
    const last = run.ended_at ?? Math.max(...times);
    return {
      id: run.run_id,
      success: run.success,
      inputs: inputsOfRun(run),
      seconds: isTimed ? since(last) : 0,
      calls: run.calls.length,
      timed: run.calls.flatMap(({ tool, started_at, deadline_at }, i): TimedCall[] => {
        const to = ends[i];
        if (started_at === null || to == null) return [];
        return [{ tool, from: since(started_at), to: since(to), isDeclared: deadline_at !== null }];
      }),
      acted: [],
      tokensAt: (seconds) =>
        run.calls.findLast(({ token_count }, i) => token_count !== null && since(ends[i] ?? origin) <= seconds)
          ?.token_count ?? null,
      changesUnder: (policy) => judgeUnder(policy)(run).changes,
    };
  };
};

/** The run with the hashes of its calls, which are then not made again for each value. */
const withHashes = (run: RecordedRun, hashing: Hashing): RecordedRun => ({
  ...run,
  calls: run.calls.map((call) => {
    if (call.args_h !== null && call.res_h !== null && call.resn_h !== null) return call;
    const made = hashing({
      args: call.args ?? undefined,
      result: call.result ?? undefined,
      failed: call.outcome === 'error' || (call.outcome === null && call.err === true),
      endedAt: call.ended_at ?? call.ts,
    });
    return {
      ...call,
      args_h: call.args_h ?? made.args_hash,
      res_h: call.res_h ?? made.result_hash,
      resn_h: call.resn_h ?? made.masked_result_hash,
    };
  }),
});

/** Reads sessions as the work of their agents. `actedOn`: when Vigil acted on an agent, epoch milliseconds. */
export const worksOfSessions = (): ((
  session: SessionReports,
  actedOn: (agent: string) => readonly Period[],
) => readonly Work[]) => {
  const judgeUnder = lastUsed((policy) => sessionJudge(policy));
  return (session, actedOn) => {
    // Judged by agent, so that an agent without findings is not judged again.
    const byAgent = Map.groupBy(session.reports, ({ agent }) => agent);
    return [...byAgent].map(([agent, reports]) => {
      const own: SessionReports = { ...session, reports, finished: session.finished.filter((one) => one === agent) };
      const origin = reports[0]?.at ?? 0;
      const since = (ms: number) => (ms - origin) / 1000;
      const timed = timedCalls(reports, since);
      return {
        id: agent,
        success: null,
        inputs: inputsOfSession(
          reports.map(({ fields }) => fields),
          session.isTimed,
        ),
        seconds: session.isTimed ? since(reports.at(-1)?.at ?? origin) : 0,
        calls: timed.length,
        timed,
        acted: actedOn(agent).map(({ from, to }) => ({ from: since(from), to: since(to) })),
        tokensAt: (seconds) =>
          reports.findLast(({ at, fields }) => since(at) <= seconds && fields.token_count != null)?.fields
            .token_count ?? null,
        changesUnder: (policy) => judgeUnder(policy)(own).flatMap(({ judged }) => judged.changes),
      };
    });
  };
};

const timedCalls = (reports: readonly SessionReport[], since: (ms: number) => number): readonly TimedCall[] => {
  const ended = new Map<string, TimedCall>();
  for (const { fields } of reports)
    for (const { call_id, tool, started_at, ended_at, deadline_at } of fields.tool_calls ?? [])
      if (started_at !== null && ended_at !== null)
        ended.set(call_id, { tool, from: since(started_at), to: since(ended_at), isDeclared: deadline_at !== null });
  return [...ended.values()];
};
