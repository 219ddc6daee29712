import type { Checkpoint, PolicyRef } from '@vigil/events';
import { marked } from '@vigil/sdk/progress';
import type { AgentSpec, World } from './agent.ts';
import type { TerminalFacts } from './beat.ts';
import { Beating } from './beating.ts';
import { CheckpointEyes } from './checkpoint-eyes.ts';
import type { Known, Memory, Past } from './memory.ts';
import type { Meter } from './meter.ts';
import { compilePatterns } from './patterns.ts';
import { agentSaid, outputSeen, type Progress, workSeen } from './progress.ts';
import { recalled } from './recall.ts';
import { isNotable, type Said } from './said.ts';
import type { Screen } from './screen.ts';
import { StepLog } from './step-log.ts';

/** The eyes on one agent: what it prints and says becomes heartbeats, and what the hands have to know of it. */
export class Watch {
  readonly screen: Screen;
  readonly #spec: AgentSpec;
  readonly #world: World;
  readonly #meter: Meter;
  readonly #beating: Beating;
  readonly #decoder = new TextDecoder();
  #known: Known;
  #read: number;
  /** rises with whatever it sees or hears */
  changes = 0;
  #paused = false;
  readonly #checkpoints: CheckpointEyes;
  #stepLog: StepLog | null;

  /** `onBeat`: a heartbeat is about to be sent, or is answered */
  constructor(spec: AgentSpec, world: World, meter: Meter, past: Past, onBeat: () => void) {
    const { memory } = past;
    this.#meter = meter;
    this.#spec = spec;
    this.#world = world;
    this.#known = memory.known;
    this.#read = memory.read;
    this.#stepLog = spec.stepLog === null ? null : new StepLog(spec.stepLog, memory.steps);
    this.screen = recalled(spec, past, this.#decode);
    this.#checkpoints = new CheckpointEyes(spec, (read) => this.#checkpointRead(read));
    this.#beating = new Beating({
      ...world,
      ...{ who: spec, intervalMs: spec.intervalMs, beats: memory.beats, onBeat },
      facts: () => this.#facts(),
      onPolicy: (policy) => void this.#follow(policy),
    });
  }

  #decode = (data: Buffer): string => this.#decoder.decode(data, { stream: true });

  begin = (): void => this.#beating.begin();

  /** What there is to remember of it. */
  get memory(): Pick<Memory, 'read' | 'known' | 'beats' | 'screen' | 'steps'> {
    const [read, known, beats, screen] = [this.#read, this.#known, this.#beating.beats, this.screen.memory];
    return { read, known, beats, screen, steps: this.#stepLog?.mark ?? null };
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

  #know(more: Partial<Known>): void {
    this.#known = { ...this.#known, ...more };
    this.changes += 1;
  }

  #facts(): TerminalFacts {
    const { completionAt, resultAt } = this.#known;
    return {
      ...this.screen.facts(this.#world.clock.now()),
      ...{ completionAt, resultAt },
      paused: this.#paused,
      limits: this.#meter.reports,
      work: this.#world.workOf(this.#spec.taskId),
    };
  }

  get #isAsking(): boolean {
    return this.screen.asksSince(this.#world.clock.now()) !== null;
  }

  /** `at`: when it was printed, epoch milliseconds */
  output(data: Buffer, at: number): void {
    this.#meter.output(data.length);
    this.#read += data.length;
    const seen = this.screen.write(this.#decode(data), at);
    const { progress } = this.#known;
    this.#know({
      ...(seen.fresh ? { progress: outputSeen(progress, this.#beating.next, seen.completed) } : {}),
      ...(seen.completed ? { completionAt: at } : {}),
      ...(seen.hasResult ? { resultAt: at } : {}),
    });
    this.#beating.matched(seen.matched);
    if (seen.hasResult || seen.matched.some(({ kind }) => kind !== 'error')) this.#beating.soon();
  }

  /** So much was printed that nobody has seen. */
  missed(bytes: number): void {
    this.#meter.output(bytes);
    this.#read += bytes;
  }

  /** The agent, or a helper of it, has reported something over the socket. */
  said(words: Said): void {
    const { activity } = this.#known;
    const progress = agentSaid(this.#known.progress, words, this.#beating.next);
    this.#beating.said(words);
    if (isNotable(words, activity)) this.#beating.soon();
    this.#know({ progress, saidAt: this.#world.clock.now(), activity: words.activity ?? activity });
    if (words.checkpoint && progress.checkpoint) this.#checkpoints.look(progress.checkpoint);
  }

  #checkpointRead(read: Checkpoint): void {
    const { progress } = this.#known;
    if (progress.checkpoint?.checkpoint_id === read.checkpoint_id)
      this.#know({ progress: { ...progress, checkpoint: read } });
    this.#beating.checkpointRead(read);
  }

  /** What is written of its steps is its own word; a log that cannot be read is read no more. */
  #readSteps(): void {
    try {
      const steps = this.#stepLog?.read();
      if (steps) this.said({ steps });
    } catch (error) {
      this.#world.log('the step log is not read any more', { path: this.#spec.stepLog, error: String(error) });
      this.#stepLog = null;
    }
  }

  /** The agent is told this: where it shows it again, it has not said it. */
  told(text: string): void {
    this.screen.told(text);
  }

  /** A question is one only after the cursor has stood still, so somebody has to look. */
  lookAgain(): void {
    this.#readSteps();
    const before = this.#known;
    const progress = workSeen(before.progress, this.#world.workOf(this.#spec.taskId), this.#beating.next);
    const isAsking = this.#isAsking;
    if (progress === before.progress && isAsking === before.isAsking) return;
    if (isAsking !== before.isAsking) this.#beating.soon();
    this.#know({ progress, isAsking });
  }

  set paused(paused: boolean) {
    this.#paused = paused;
    this.#beating.soon();
  }
  get progress(): Progress {
    return marked(this.#known.progress, ['heartbeat'], this.#beating.next - 1);
  }
  get atQuestion(): boolean {
    return this.#known.activity === 'awaiting_input' || this.#isAsking;
  }
  get isQuiet(): boolean {
    return this.screen.isStill(this.#world.clock.now());
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

  finish(withinMs: number): Promise<void> {
    this.#readSteps();
    this.#stepLog?.close();
    this.#stepLog = null;
    return this.#beating.finish(withinMs);
  }
}
