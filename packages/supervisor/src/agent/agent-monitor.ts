import type { Checkpoint, ClientReport, PolicyRef, ToolCall } from '@vigil/events';
import type { AskAtStop } from '@vigil/health/proof';
import { marked } from '@vigil/sdk/progress';
import { type KnownState, knownState } from '../adapters/omniclaude.ts';
import { CheckpointWatcher } from '../checkpoint/validate.ts';
import type { MonitorDeps } from '../deps.ts';
import type { TerminalFacts } from '../heartbeat/heartbeat.ts';
import { HeartbeatSender, type HeartbeatSenderDeps } from '../heartbeat/heartbeat-sender.ts';
import { outputSeen, type Progress, progressAfterReport, workSeen } from '../heartbeat/progress.ts';
import { type SourceTerminal, shownTerminalOf } from '../live-terminal/source.ts';
import { isNotable, ownFields, type ReportedFields } from '../messages/agent-report.ts';
import type { OutputReader } from '../output/output-reader.ts';
import { compilePatterns } from '../output/patterns.ts';
import { restoreOutput } from '../output/restore-output.ts';
import type { Pid } from '../process/proc.ts';
import type { Chunk } from '../pty-host/ring.ts';
import type { AgentScreen } from '../screen/agent-screen.ts';
import { ScreenReader } from '../screen/screen-reader.ts';
import { AgentSessions, hasEnded, reportsLimits } from '../sessions/agent-sessions.ts';
import { EventStream, hasFinished, type StreamedLine, streamClientOf } from '../sessions/event-stream.ts';
import { SessionPoll } from '../sessions/session-poll.ts';
import { Subagents } from '../sessions/subagents.ts';
import type { SessionFacts, TypingDecision } from '../typing/decide.ts';
import { type AgentSpec, sharedDir, spoolOf } from './agent-spec.ts';
import type { Meter } from './limits.ts';
import { after, type Memory, type ObservedState, type Past } from './memory.ts';
import { callsAfterReport } from './recent-calls.ts';
import { refusalOfAgent, type Used, usedBy } from './spending-limit.ts';
import { StepReader } from './step-reader.ts';

/** Lines of the last output in the report of an end. */
const LAST_OUTPUT_LINES = 100;

/** Monitors one agent: turns its output and reports into heartbeats, and into the facts that orders need. */
export class AgentMonitor {
  readonly screen: OutputReader;
  /** what stands on its terminal */
  readonly drawn: AgentScreen;
  readonly #surface: ScreenReader;
  readonly sessions: AgentSessions;
  /** epoch milliseconds */
  readonly startedAt: number;
  readonly #stream: EventStream | null;
  readonly subagents: Subagents;
  readonly #spec: AgentSpec;
  readonly #deps: MonitorDeps;
  readonly #meter: Meter;
  readonly #heartbeatSender: HeartbeatSender;
  readonly #decoder = new TextDecoder();
  #observed: ObservedState;
  #read: number;
  /** rises with every observed change */
  changes = 0;
  /** why a limit of its task or of the day allows no more calls, from the answer to the last heartbeat; null: it does */
  #refusal: string | null = null;
  /** what the agent is asked before a turn ends, from the same answer; null: nothing */
  #askAtStop: AskAtStop | null = null;
  readonly #sessionPoll: SessionPoll;
  #paused = false;
  #ending = false;
  readonly #checkpoints: CheckpointWatcher;
  readonly #steps: StepReader;

  constructor(
    spec: AgentSpec,
    deps: MonitorDeps,
    meter: Meter,
    past: Past,
    drawn: AgentScreen,
    on: Pick<HeartbeatSenderDeps, 'onHeartbeat' | 'onFinding'>,
  ) {
    const { memory } = past;
    this.drawn = drawn;
    const { monotonic } = deps.clock;
    const soon = () => this.#heartbeatSender.soon();
    this.#surface = new ScreenReader({ drawn, monotonic, session: () => this.session, onChange: soon });
    this.#meter = meter;
    this.#spec = spec;
    this.#deps = deps;
    this.#observed = memory.observed;
    this.startedAt = memory.startedAt;
    this.#read = memory.read;
    this.#steps = new StepReader(spec.stepLog, memory.steps, deps.logger);
    this.screen = restoreOutput(spec, past, this.#decode);
    this.sessions = new AgentSessions({
      dir: spoolOf(sharedDir(spec, deps), spec.instanceId),
      memory: memory.sessions,
      logger: deps.logger,
      askAtStop: () => this.#askAtStop,
      refusalOf: (_, agent) => this.#refusal ?? this.#overLimit() ?? this.#subagentOverLimit(agent),
      onReport: (report, { client: name, id }, file, isCurrent) => {
        const client = { name, session_id: id };
        if (report.agent !== null) this.subagents.report(file, report, client);
        else this.report(ownFields(report.fields, client, this.sessions.breakers, isCurrent));
      },
    });
    const client = streamClientOf(deps.clients, spec);
    const onDropped = (bytes: number) =>
      deps.logger('a line of the output is too long, or was cut, and is not read', { agentId: spec.agentId, bytes });
    this.#stream = client && new EventStream(client, { ...memory, seen: past.seen }, onDropped);
    this.subagents = new Subagents({
      ...deps,
      ...{ spec, memory: memory.subagents, onHeartbeat: on.onHeartbeat },
      isPaused: () => this.#paused,
      onRefusal: soon,
    });
    this.#sessionPoll = new SessionPoll(spec, deps, this.sessions);
    this.#checkpoints = new CheckpointWatcher(spec, (read) => this.#checkpointRead(read));
    this.#heartbeatSender = new HeartbeatSender({
      ...deps,
      ...{ ...on, who: spec, intervalMs: spec.intervalMs, heartbeatState: memory.heartbeatState },
      facts: () => this.#facts(),
      onPolicy: (policy) => void this.#follow(policy),
      onRefusal: (refusal) => {
        this.#refusal = refusal;
      },
      onAskAtStop: (ask) => {
        this.#askAtStop = ask;
      },
    });
  }

  #decode = (data: Buffer): string => this.#decoder.decode(data, { stream: true });

  begin = (): void => {
    this.#heartbeatSender.begin();
    this.subagents.begin();
  };

  heartbeatSoon = (): void => this.#heartbeatSender.soon();

  /** What there is to remember of it. */
  get memory(): Pick<
    Memory,
    'read' | 'observed' | 'heartbeatState' | 'screen' | 'emulator' | 'steps' | 'sessions' | 'stream' | 'subagents'
  > {
    return {
      read: this.#read,
      observed: this.#observed,
      heartbeatState: this.#heartbeatSender.heartbeatState,
      screen: this.screen.memory,
      emulator: this.drawn.memory,
      steps: this.#steps.mark,
      sessions: this.sessions.memory,
      stream: this.#stream?.memory ?? null,
      subagents: this.subagents.memory,
    };
  }
  /** Matches the patterns of the policy as soon as it has arrived; until then the previous ones. */
  async #follow(policy: PolicyRef): Promise<void> {
    const isKnown = () => policy.hash === this.#observed.looksFor?.policy.hash;
    if (isKnown()) return;
    const policyPatterns = await this.#deps.policyPatterns.of(policy);
    if (policyPatterns === null || isKnown()) return;
    this.#observe({ looksFor: { policy, document: this.#deps.policyPatterns.documentOf(policy.hash) } });
    const found = this.screen.usePatterns(
      compilePatterns(this.#spec.patterns, policyPatterns),
      policyPatterns.tailLines,
    );
    this.#heartbeatSender.matched(found);
    if (found.length > 0) this.#heartbeatSender.soon();
  }

  #refusalOf = (agentId: string, used: readonly Used[]): string | null =>
    refusalOfAgent(agentId, this.#observed.looksFor?.document, used);

  /**
   * Why the policy's limit for one agent allows no more calls: no call starts after the session file shows that the
   * limit is reached.
   */
  #overLimit(): string | null {
    const { agentId } = this.#spec;
    const reported = [usedBy(this.#heartbeatSender.heartbeatState)];
    return this.#refusalOf(agentId, this.sessions.used) ?? this.#refusalOf(agentId, reported);
  }

  /** The limit applies to each sub-agent, too. `agent`: the client's id of it; null: the call is the agent's own. */
  #subagentOverLimit(agent: string | null): string | null {
    const observed = agent === null ? null : this.subagents.at(agent);
    return observed && this.#refusalOf(observed.identity.agentId, [usedBy(observed.heartbeatState)]);
  }

  #observe(more: Partial<ObservedState>): void {
    this.#observed = { ...this.#observed, ...more };
    this.changes += 1;
  }

  #facts(): TerminalFacts {
    const { outputAt, completionAt, resultAt, hasAsked } = this.#observed;
    const now = this.#deps.clock.now();
    const screen = this.#surface.facts(now);
    return {
      ...this.screen.facts(now),
      // A session that reports its turns and calls reports its questions and errors itself.
      ...(this.#isReportedByClient ? { asks: null, repeatedError: null } : {}),
      ...{ lastOutputAt: outputAt, completionAt, resultAt, hasAsked },
      isSilenceKnown: this.#surface.isSilenceKnown(this.sessions.current !== null),
      screen,
      paused: this.#paused,
      ending: this.#ending,
      limits: this.#meter.reports,
      work: this.#deps.workOf(this.#spec.taskId),
    };
  }

  /** What hooks, or the output of its client, have reported of the session that the agent is. */
  get session(): SessionFacts {
    const { turn, waiting_for } = this.#heartbeatSender.heartbeatState.latest;
    return { turnOpen: turn?.open ?? null, waitingFor: waiting_for?.kind ?? null };
  }

  /** No hook reports the session: its client prints its events, and accepts no text from the supervisor. */
  get isReportedByOutput(): boolean {
    return this.sessions.current?.source === 'output';
  }

  /** Whether a text may be typed now. */
  get typing(): TypingDecision {
    return this.#surface.typing;
  }

  /** Whether typed text is echoed as a line. */
  get echoesLines(): boolean {
    return this.#surface.echoesLines;
  }

  get #isAsking(): boolean {
    return !this.#isReportedByClient && this.screen.asksSince(this.#deps.clock.now()) !== null;
  }

  /** Output that was lost before it was read is counted; output that was read before is not read again. */
  judge = (chunk: Chunk): void => {
    if (chunk.from > this.#read) this.#missed(chunk.from - this.#read);
    const fresh = after(chunk, this.#read);
    if (fresh !== null) this.#output(fresh);
  };

  #output({ data, at }: Chunk): void {
    this.#meter.output(data.length);
    this.#read += data.length;
    const lines = this.#stream?.read(data, at) ?? [];
    this.#printed(lines);
    const seen = this.screen.write(this.#decode(data), at);
    this.drawn.write(data);
    const { progress } = this.#observed;
    const hasResult = seen.hasResult || hasFinished(lines);
    const isActivity = seen.fresh && this.echoesLines && !this.#isReportedByClient;
    const { next } = this.#heartbeatSender;
    this.#observe({
      ...(isActivity ? { progress: outputSeen(progress, next, seen.completed), outputAt: at } : {}),
      ...(!isActivity && seen.completed ? { progress: marked(progress, ['completion'], next) } : {}),
      ...(seen.completed ? { completionAt: at } : {}),
      ...(hasResult ? { resultAt: at } : {}),
    });
    const matched = this.#reportsLimits ? seen.matched.filter(({ kind }) => kind !== 'rate_limit') : seen.matched;
    this.#heartbeatSender.matched(matched);
    if (!this.#isReportedByClient) this.#heartbeatSender.errorsShown(seen.errors);
    if (hasResult || matched.some(({ kind }) => kind !== 'error')) this.#heartbeatSender.soon();
  }

  #printed(lines: readonly StreamedLine[]): void {
    const { client } = this.#stream ?? {};
    if (client !== undefined)
      for (const { sessionId, events } of lines) this.sessions.printed(client, sessionId, events);
  }

  /** A stream has these words in other lines, too: Claude Code prints a "rate_limit_event" that is not a limit. */
  get #reportsLimits(): boolean {
    const isStreamed = this.#stream !== null && this.#stream.memory.sessionId !== null;
    return isStreamed || reportsLimits(this.sessions.current, this.#surface.mayBeHeadless);
  }

  /** While a session reports its turns, what its client draws is not activity: spinners, retries, our own text, a resized window. */
  get #isReportedByClient(): boolean {
    const session = this.sessions.current;
    return session !== null && !hasEnded(session) && session.fold.session.main.turn !== null;
  }

  #missed(bytes: number): void {
    this.#meter.output(bytes);
    this.#read += bytes;
    this.#stream?.missed();
  }

  /** The agent, or a helper of it, has reported something over the socket. */
  report(report: ReportedFields): void {
    const { latest } = this.#heartbeatSender.heartbeatState;
    const progress = progressAfterReport(this.#observed.progress, report, this.#heartbeatSender.next);
    this.#heartbeatSender.report(report);
    if (isNotable(report, latest)) this.#heartbeatSender.soon();
    const activity = report.activity ?? this.#observed.activity;
    const calls = callsAfterReport(this.#observed.calls, report);
    this.#observe({ progress, activity, calls });
    if (report.checkpoint && progress.checkpoint) this.#checkpoints.look(progress.checkpoint);
  }

  #checkpointRead(read: Checkpoint): void {
    const { progress } = this.#observed;
    if (progress.checkpoint?.checkpoint_id === read.checkpoint_id)
      this.#observe({ progress: { ...progress, checkpoint: read } });
    this.#heartbeatSender.checkpointRead(read);
  }

  /** The step log is the agent's own report. */
  #readSteps(): void {
    const steps = this.#steps.read();
    if (steps) this.report({ steps });
  }

  /** This text was sent to the agent. Where its terminal shows the text again, it is not the agent's output. */
  sent(text: string): void {
    this.screen.sent(text);
  }

  /** A question counts only after the cursor has stood still, so the terminal is polled. `leader`: the first process of its terminal */
  check(leader: Pid): void {
    this.#readSteps();
    this.#sessionPoll.poll(leader, this.#surface.look(), () => this.#endSessionOfGoneClient());
    const before = this.#observed;
    const progress = workSeen(before.progress, this.#deps.workOf(this.#spec.taskId), this.#heartbeatSender.next);
    const isAsking = this.#isAsking;
    if (progress === before.progress && isAsking === before.isAsking) return;
    if (isAsking !== before.isAsking) this.#heartbeatSender.soon();
    this.#observe({ progress, isAsking, hasAsked: before.hasAsked || isAsking });
  }

  /** From now on it is being ended, and its heartbeats report nothing else. */
  ends(): void {
    this.#ending = true;
    this.#heartbeatSender.soon();
  }

  /** Its terminal counts again: what runs there now is another program. */
  #endSessionOfGoneClient(): void {
    const { reportedAt } = this.#heartbeatSender.heartbeatState;
    this.sessions.add({ kind: 'session_ended', continues: false, at: this.#deps.clock.now(), agent: null });
    this.#heartbeatSender.clientGone(reportedAt);
    this.#observe({ activity: null });
  }

  set paused(paused: boolean) {
    this.#paused = paused;
    this.#heartbeatSender.soon();
  }
  get progress(): Progress {
    return marked(this.#observed.progress, ['heartbeat'], this.#heartbeatSender.next - 1);
  }
  get atQuestion(): boolean {
    const { waitingFor } = this.session;
    const isAwaited = this.#observed.activity === 'awaiting_input' && waitingFor !== 'prompt';
    return isAwaited || this.#surface.hasDialog || this.#isAsking;
  }
  get isQuiet(): boolean {
    return this.screen.isStill(this.#deps.clock.now());
  }
  /** its client and the session of it, as it reports them; null: it reports none */
  get client(): ClientReport | null {
    return this.#heartbeatSender.heartbeatState.latest.client ?? null;
  }
  /** the newest call that it has reported; null: none */
  get lastCall(): ToolCall | null {
    return this.#observed.calls.last;
  }
  /** what its checkpoint does not give its replacement */
  get known(): KnownState {
    return knownState(this.#observed.calls.sinceCheckpoint, this.lastOutput, this.#deps.workOf(this.#spec.taskId));
  }
  /** of the policy by which it is judged, as it was served; undefined: it is not known */
  get policyDocument(): unknown {
    return this.#observed.looksFor?.document;
  }
  /** by which it is judged, as far as that is known */
  get policy(): string | null {
    return this.#heartbeatSender.policy ?? this.#observed.looksFor?.policy.name ?? this.#spec.policy;
  }
  get hasCompleted(): boolean {
    return this.#observed.completionAt !== null;
  }
  /** it reports itself that it is done */
  get reportsFinished(): boolean {
    return this.#observed.activity === 'finished';
  }
  get lastOutput(): readonly string[] {
    return this.screen.tail.slice(-LAST_OUTPUT_LINES).map(({ text }) => text);
  }
  get shownTerminal(): SourceTerminal {
    return shownTerminalOf(this.screen, this.drawn, this.#deps.clock.now());
  }

  async finish(withinMs: number): Promise<void> {
    this.#printed(this.#stream?.end(this.#deps.clock.now()) ?? []);
    this.sessions.read(true);
    this.sessions.readTranscripts(this.#deps.clock.now());
    this.#readSteps();
    this.#steps.close();
    await Promise.all([this.#heartbeatSender.finish(withinMs), this.subagents.finish()]);
    this.#sessionPoll.removeSpool();
  }
}
