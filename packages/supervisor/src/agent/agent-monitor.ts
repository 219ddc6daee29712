import { rmSync } from 'node:fs';
import type { Checkpoint, ClientReport, PolicyRef } from '@vigil/events';
import { marked } from '@vigil/sdk/progress';
import { CheckpointEyes } from '../checkpoint/checkpoint-watcher.ts';
import type { MonitorDeps } from '../deps.ts';
import type { TerminalFacts } from '../heartbeat/heartbeat.ts';
import { Beating } from '../heartbeat/heartbeat-sender.ts';
import { agentSaid, outputSeen, type Progress, workSeen } from '../heartbeat/progress.ts';
import { StepLog } from '../heartbeat/step-log.ts';
import { isNotable, ownReport, type Said } from '../messages/agent-report.ts';
import { controlOf } from '../orders/client-control.ts';
import type { Screen } from '../output/output-reader.ts';
import { compilePatterns } from '../output/patterns.ts';
import { recalled } from '../output/restore-output.ts';
import { identify, isAlive, type Pid, sessionOf, wordsOf } from '../process/proc.ts';
import type { AgentScreen } from '../screen/agent-screen.ts';
import { isSilenceKnown, printsLines, type Surface } from '../screen/surface.ts';
import { limitShown, missedEvents, type ScreenReport, screenReport } from '../screen/waiting.ts';
import { AgentSessions } from '../sessions/agent-sessions.ts';
import { ClientProcess } from '../sessions/client-process.ts';
import { EventStream, type StreamedLine } from '../sessions/event-stream.ts';
import { reportsLimits, withoutReported } from '../sessions/reported-facts.ts';
import { Subagents } from '../sessions/subagents.ts';
import { decideTyping, type SessionFacts, type TypingDecision } from '../typing/decide.ts';
import { type AgentSpec, spoolOf } from './agent-spec.ts';
import type { Known, Memory, Past } from './memory.ts';
import type { Meter } from './meter.ts';
import { refusalOfAgent, type Used, usedBy } from './spending-limit.ts';

/** How often the spool is read where no hook asks, and the transcripts where no hook reports. Milliseconds. */
const readSpoolEveryMs = 1000;
const readTranscriptsEveryMs = 2000;
/** How often it is looked whether the client of a session still runs, milliseconds. */
const lookForClientEveryMs = 5000;
/** How often a limit that stands on the screen is reported. Milliseconds. */
const reportLimitEveryMs = 2000;

/** The eyes on one agent: what it prints and says becomes heartbeats, and what the hands have to know of it. */
export class Watch {
  readonly screen: Screen;
  /** what stands on its terminal */
  readonly drawn: AgentScreen;
  #surface: Surface;
  #shown: ScreenReport = { activity: null, waitingFor: null };
  readonly sessions: AgentSessions;
  readonly #stream: EventStream | null;
  readonly subagents: Subagents;
  readonly #spec: AgentSpec;
  readonly #world: MonitorDeps;
  readonly #meter: Meter;
  readonly #beating: Beating;
  readonly #decoder = new TextDecoder();
  #known: Known;
  #read: number;
  /** rises with whatever it sees or hears */
  changes = 0;
  /** why a limit of its task or of the day allows no more calls, from the answer to the last heartbeat; null: it does */
  #refusal: string | null = null;
  #spoolReadAt = 0;
  #transcriptsReadAt = 0;
  #limitReportedAt = 0;
  #clientLookedForAt = Number.NEGATIVE_INFINITY;
  /** null: the agent is the client itself, and ends with it */
  readonly #clientProcess: ClientProcess | null;
  /** the first process of its terminal; null: none has started yet */
  #leader: Pid | null = null;
  #paused = false;
  #ending = false;
  readonly #checkpoints: CheckpointEyes;
  #stepLog: StepLog | null;
  /** why the step log could not be read the last time; null: it could */
  #stepsUnread: string | null = null;

  /** `onBeat`: a heartbeat is about to be sent, or is answered */
  constructor(spec: AgentSpec, world: MonitorDeps, meter: Meter, past: Past, drawn: AgentScreen, onBeat: () => void) {
    const { memory } = past;
    this.drawn = drawn;
    this.#surface = drawn.look(world.clock.monotonic());
    this.#meter = meter;
    this.#spec = spec;
    this.#world = world;
    this.#known = memory.known;
    this.#read = memory.read;
    this.#stepLog = spec.stepLog === null ? null : new StepLog(spec.stepLog, memory.steps);
    this.screen = recalled(spec, past, this.#decode);
    this.sessions = new AgentSessions({
      dir: spoolOf(world.dir, spec.instanceId),
      memory: memory.sessions,
      log: world.log,
      refusalOf: (_, agent) => this.#refusal ?? this.#overLimit() ?? this.#subagentOverLimit(agent),
      onReport: (report, { client: name, id }, file, isCurrent) => {
        const client = { name, session_id: id };
        if (report.agent !== null) this.subagents.report(file, report, client);
        else this.said(ownReport(report.fields, client, this.sessions.breakers, isCurrent));
      },
    });
    this.#stream = EventStream.of(world.clients, spec, { ...memory, seen: past.seen }, (bytes) =>
      world.log('a line of the output is too long, or was cut, and is not read', { agentId: spec.agentId, bytes }),
    );
    this.subagents = new Subagents({
      ...world,
      ...{ spec, memory: memory.subagents, onBeat },
      isPaused: () => this.#paused,
      onRefusal: () => this.#beating.soon(),
    });
    const programs = () =>
      this.#leader === null
        ? []
        : sessionOf(this.#leader.pid).map((pid) => ({ pid: identify(pid), words: wordsOf(pid) }));
    this.#clientProcess =
      controlOf(world.clients, spec) === null ? new ClientProcess(world.clients, { programs, isAlive }) : null;
    this.#checkpoints = new CheckpointEyes(spec, (read) => this.#checkpointRead(read));
    this.#beating = new Beating({
      ...world,
      ...{ who: spec, intervalMs: spec.intervalMs, beats: memory.beats, onBeat },
      facts: () => this.#facts(),
      onPolicy: (policy) => void this.#follow(policy),
      onRefusal: (refusal) => {
        this.#refusal = refusal;
      },
    });
  }

  #decode = (data: Buffer): string => this.#decoder.decode(data, { stream: true });

  begin = (): void => {
    this.#beating.begin();
    this.subagents.begin();
  };

  /** What there is to remember of it. */
  get memory(): Pick<
    Memory,
    'read' | 'known' | 'beats' | 'screen' | 'emulator' | 'steps' | 'sessions' | 'stream' | 'subagents'
  > {
    const [read, known, beats, screen] = [this.#read, this.#known, this.#beating.beats, this.screen.memory];
    const [sessions, subagents] = [this.sessions.memory, this.subagents.memory];
    const steps = this.#stepLog?.mark ?? null;
    const stream = this.#stream?.memory ?? null;
    return { read, known, beats, screen, emulator: this.drawn.memory, steps, sessions, stream, subagents };
  }
  /** bytes of output that it has taken in */
  get read(): number {
    return this.#read;
  }

  /** Looks for what the policy asks for, as soon as it is here; until then for what was asked before. */
  async #follow(policy: PolicyRef): Promise<void> {
    const isKnown = () => policy.hash === this.#known.looksFor?.policy.hash;
    if (isKnown()) return;
    const watch = await this.#world.watches.of(policy);
    if (watch === null || isKnown()) return;
    this.#know({ looksFor: { policy, document: this.#world.watches.documentOf(policy.hash) } });
    const found = this.screen.watchFor(compilePatterns(this.#spec.patterns, watch), watch.tailLines);
    this.#beating.matched(found);
    if (found.length > 0) this.#beating.soon();
  }

  /** Why the policy's limit for one agent allows no more calls: no call starts after the session file shows that it is reached. */
  #overLimit(): string | null {
    const refusal = (used: readonly Used[]) => refusalOfAgent(this.#spec.agentId, this.#known.looksFor?.document, used);
    return refusal(this.sessions.used) ?? refusal([usedBy(this.#beating.beats)]);
  }

  /** A sub-agent has the policy's limit for one agent, too. `agent`: the client's id of it; null: the call is the agent's own. */
  #subagentOverLimit(agent: string | null): string | null {
    const known = agent === null ? null : this.subagents.at(agent);
    return known && refusalOfAgent(known.identity.agentId, this.#known.looksFor?.document, [usedBy(known.beats)]);
  }

  #know(more: Partial<Known>): void {
    this.#known = { ...this.#known, ...more };
    this.changes += 1;
  }

  #facts(): TerminalFacts {
    const { outputAt, completionAt, resultAt, hasAsked } = this.#known;
    const now = this.#world.clock.now();
    const surface = this.#look();
    return {
      ...withoutReported(this.screen.facts(now), this.#isReportedByClient),
      ...{ lastOutputAt: outputAt, completionAt, resultAt, hasAsked },
      isSilenceKnown: isSilenceKnown(surface, this.sessions.current !== null),
      screen: { ...this.#shown, since: Math.round(now - surface.steadyMs) },
      paused: this.#paused,
      ending: this.#ending,
      limits: this.#meter.reports,
      work: this.#world.workOf(this.#spec.taskId),
    };
  }

  /** Looks at the screen. What it says anew of the agent is to be judged at once. */
  #look(): Surface {
    this.#surface = this.drawn.look(this.#world.clock.monotonic());
    const report = screenReport(this.#surface, this.session);
    if (JSON.stringify(report) !== JSON.stringify(this.#shown)) this.#beating.soon();
    this.#shown = report;
    return this.#surface;
  }

  /** Some facts fire no hook: an Esc, and a dialog that a person has answered. */
  #addMissed(surface: Surface): void {
    const state = this.sessions.current?.state;
    if (state === undefined) return;
    for (const event of missedEvents(surface, state, this.#world.clock.now())) this.sessions.add(event);
    this.#addLimit(surface, { turnOpen: state.main.turn?.open ?? null, waitingFor: null });
  }

  /** A client that retries a request fires no hook. */
  #addLimit(surface: Surface, facts: SessionFacts): void {
    const now = this.#world.clock.now();
    const limit = limitShown(surface, facts, now);
    if (limit === null || now < this.#limitReportedAt + reportLimitEveryMs) return;
    this.#limitReportedAt = now;
    this.sessions.add({ kind: 'request_limited', retryAt: limit.retryAt, at: now, agent: null });
  }

  /** What hooks, or the output of its client, have reported of the session that the agent is. */
  get session(): SessionFacts {
    const { turn, waiting_for } = this.#beating.beats.latest;
    return { turnOpen: turn?.open ?? null, waitingFor: waiting_for?.kind ?? null };
  }

  /** No hook reports the session: its client prints what it does, and takes no text from here. */
  get isReportedByOutput(): boolean {
    return this.sessions.current?.source === 'output';
  }

  /** Whether a text may be typed now. */
  get typing(): TypingDecision {
    return decideTyping(this.#surface, this.session);
  }

  /** Whether what is typed is echoed as a line. */
  get echoesLines(): boolean {
    return printsLines(this.#surface);
  }

  get #isAsking(): boolean {
    return !this.#isReportedByClient && this.screen.asksSince(this.#world.clock.now()) !== null;
  }

  /** `at`: when it was printed, epoch milliseconds */
  output(data: Buffer, at: number): void {
    this.#meter.output(data.length);
    this.#read += data.length;
    this.#printed(this.#stream?.read(data, at) ?? []);
    const seen = this.screen.write(this.#decode(data), at);
    this.drawn.write(data);
    const { progress } = this.#known;
    const isActivity = seen.fresh && this.echoesLines && !this.#isReportedByClient;
    const { next } = this.#beating;
    this.#know({
      ...(isActivity ? { progress: outputSeen(progress, next, seen.completed), outputAt: at } : {}),
      ...(!isActivity && seen.completed ? { progress: marked(progress, ['completion'], next) } : {}),
      ...(seen.completed ? { completionAt: at } : {}),
      ...(seen.hasResult ? { resultAt: at } : {}),
    });
    const matched = this.#reportsLimits ? seen.matched.filter(({ kind }) => kind !== 'rate_limit') : seen.matched;
    this.#beating.matched(matched);
    if (seen.hasResult || matched.some(({ kind }) => kind !== 'error')) this.#beating.soon();
  }

  #printed(lines: readonly StreamedLine[]): void {
    const { client } = this.#stream ?? {};
    if (client !== undefined)
      for (const { sessionId, events } of lines) this.sessions.printed(client, sessionId, events);
  }

  /** A stream has the words in other lines, too: Claude Code prints a "rate_limit_event" that is none. */
  get #reportsLimits(): boolean {
    const isStreamed = this.#stream !== null && this.#stream.memory.sessionId !== null;
    return isStreamed || reportsLimits(this.sessions.current, this.#surface.client?.invocation.headless !== false);
  }

  /** While a session reports its turns, what its client draws is no activity: spinners, retries, our own text, a resized window. */
  get #isReportedByClient(): boolean {
    const session = this.sessions.current;
    return session !== null && !session.hasEnded && session.state.main.turn !== null;
  }

  /** So much was printed that nobody has seen. */
  missed(bytes: number): void {
    this.#meter.output(bytes);
    this.#read += bytes;
    this.#stream?.missed();
  }

  /** The agent, or a helper of it, has reported something over the socket. */
  said(words: Said): void {
    const { latest } = this.#beating.beats;
    const progress = agentSaid(this.#known.progress, words, this.#beating.next);
    this.#beating.said(words);
    if (isNotable(words, latest)) this.#beating.soon();
    const activity = words.activity ?? this.#known.activity;
    this.#know({ progress, saidAt: this.#world.clock.now(), activity });
    if (words.checkpoint && progress.checkpoint) this.#checkpoints.look(progress.checkpoint);
  }

  #checkpointRead(read: Checkpoint): void {
    const { progress } = this.#known;
    if (progress.checkpoint?.checkpoint_id === read.checkpoint_id)
      this.#know({ progress: { ...progress, checkpoint: read } });
    this.#beating.checkpointRead(read);
  }

  /** What is written of its steps is its own word; a log that cannot be read now may be later. */
  #readSteps(): void {
    try {
      const steps = this.#stepLog?.read();
      this.#stepsUnread = null;
      if (steps) this.said({ steps });
    } catch (error) {
      const why = String(error);
      if (why !== this.#stepsUnread)
        this.#world.log('the step log cannot be read', { path: this.#spec.stepLog, error: why });
      this.#stepsUnread = why;
    }
  }

  /** The agent is told this: where it shows it again, it has not said it. */
  told(text: string): void {
    this.screen.told(text);
  }

  /** A question is one only after the cursor has stood still, so somebody has to look. `leader`: the first process of its terminal */
  lookAgain(leader: Pid): void {
    this.#leader = leader;
    this.#readSteps();
    this.#addMissed(this.#look());
    this.#readSessions(this.#world.clock.monotonic());
    this.#endSessionOfGoneClient(this.#world.clock.monotonic());
    const before = this.#known;
    const progress = workSeen(before.progress, this.#world.workOf(this.#spec.taskId), this.#beating.next);
    const isAsking = this.#isAsking;
    if (progress === before.progress && isAsking === before.isAsking) return;
    if (isAsking !== before.isAsking) this.#beating.soon();
    this.#know({ progress, isAsking, hasAsked: before.hasAsked || isAsking });
  }

  /** From now on it is being ended, and its heartbeats report nothing else. */
  ends(): void {
    this.#ending = true;
    this.#beating.soon();
  }

  /** A hook that was killed after it had spooled its record tells nobody. */
  #readSessions(now: number): void {
    if (now < this.#spoolReadAt + readSpoolEveryMs) return;
    this.#spoolReadAt = now;
    this.sessions.read();
    if (now < this.#transcriptsReadAt + readTranscriptsEveryMs) return;
    this.#transcriptsReadAt = now;
    this.sessions.readTranscripts(now);
  }

  /** Its terminal counts again: what runs there now is another program. */
  #endSessionOfGoneClient(now: number): void {
    const session = this.sessions.current;
    if (session === null || session.hasEnded || now < this.#clientLookedForAt + lookForClientEveryMs) return;
    this.#clientLookedForAt = now;
    if (this.#clientProcess?.isGone(session.client) !== true) return;
    this.#world.log('the client of a session is gone', { agentId: this.#spec.agentId, client: session.client });
    const { saidAt } = this.#beating.beats;
    this.sessions.add({ kind: 'session_ended', continues: false, at: this.#world.clock.now(), agent: null });
    this.#beating.clientGone(saidAt);
    this.#know({ activity: null });
  }

  set paused(paused: boolean) {
    this.#paused = paused;
    this.#beating.soon();
  }
  get progress(): Progress {
    return marked(this.#known.progress, ['heartbeat'], this.#beating.next - 1);
  }
  get atQuestion(): boolean {
    const { waitingFor } = this.session;
    const isAwaited = this.#known.activity === 'awaiting_input' && waitingFor !== 'prompt';
    const isDialog = this.#shown.waitingFor !== null && this.#shown.waitingFor.kind !== 'prompt';
    return isAwaited || isDialog || this.#isAsking;
  }
  get isQuiet(): boolean {
    return this.screen.isStill(this.#world.clock.now());
  }
  /** its client and the session of it, as it reports them; null: it reports none */
  get client(): ClientReport | null {
    return this.#beating.beats.latest.client ?? null;
  }
  /** as its client reports it; null: it reports none */
  get turnOpen(): boolean | null {
    return this.#beating.beats.latest.turn?.open ?? null;
  }
  /** epoch milliseconds; null: it has neither printed nor said anything */
  get heardAt(): number | null {
    return Math.max(this.#known.saidAt ?? 0, this.screen.lastOutputAt ?? 0) || null;
  }
  /** by which it is judged, as far as that is known */
  get policy(): string | null {
    return this.#beating.policy ?? this.#known.looksFor?.policy.name ?? this.#spec.policy;
  }
  get hasCompleted(): boolean {
    return this.#known.completionAt !== null;
  }
  /** it says itself that it is done */
  get saysFinished(): boolean {
    return this.#known.activity === 'finished';
  }
  get lastOutput(): readonly string[] {
    return this.screen.tail.map(({ text }) => text);
  }

  async finish(withinMs: number): Promise<void> {
    this.#printed(this.#stream?.end(this.#world.clock.now()) ?? []);
    this.sessions.read(true);
    this.sessions.readTranscripts(this.#world.clock.now());
    this.#readSteps();
    this.#stepLog?.close();
    this.#stepLog = null;
    await Promise.all([this.#beating.finish(withinMs), this.subagents.finish()]);
    this.#removeSpool();
  }

  #removeSpool(): void {
    const path = spoolOf(this.#world.dir, this.#spec.instanceId);
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      this.#world.log('the spool of an agent that has ended is left', { path, error: String(error) });
    }
  }
}
