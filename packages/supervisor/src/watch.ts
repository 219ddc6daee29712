import type { Activity, Checkpoint, PolicyRef } from '@vigil/events';
import { marked } from '@vigil/sdk/progress';
import type { AgentSpec, World } from './agent.ts';
import type { TerminalFacts } from './beat.ts';
import { Beating } from './beating.ts';
import { validate } from './checkpoint.ts';
import type { Meter } from './meter.ts';
import { compilePatterns } from './patterns.ts';
import { agentSaid, noProgress, outputSeen, type Progress, workSeen } from './progress.ts';
import type { Said } from './said.ts';
import { Screen } from './screen.ts';
import { StepLog } from './step-log.ts';

const isNotable = (words: Said, before: Activity | null): boolean =>
  (words.activity ?? before) !== before ||
  [words.checkpoint, words.handoff, words.probe_reply, words.rate_limit].some((word) => word != null) ||
  (words.blockers?.length ?? 0) > 0;

/** The eyes on one agent: what it prints and says becomes heartbeats, and what the hands have to know of it. */
export class Watch {
  readonly screen: Screen;
  readonly #spec: AgentSpec;
  readonly #world: World;
  readonly #meter: Meter;
  readonly #beating: Beating;
  readonly #decoder = new TextDecoder();
  #progress: Progress = noProgress;
  #activity: Activity | null = null;
  #completionAt: number | null = null;
  #resultAt: number | null = null;
  #policyHash: string | null = null;
  #asked = false;
  #paused = false;
  #saidAt: number | null = null;
  #reading: Promise<void> | null = null;
  #stepLog: StepLog | null;

  constructor(spec: AgentSpec, world: World, meter: Meter) {
    this.#meter = meter;
    this.#spec = spec;
    this.#world = world;
    this.#stepLog = spec.stepLog === null ? null : new StepLog(spec.stepLog);
    this.screen = new Screen(compilePatterns(spec.patterns));
    this.#beating = new Beating({
      ...world,
      ...{ who: spec, intervalMs: spec.intervalMs },
      facts: () => this.#facts(),
      onPolicy: (policy) => void this.#follow(policy),
    });
  }

  /** Looks for what the policy asks for, as soon as it is here; until then for what was asked before. */
  async #follow(policy: PolicyRef): Promise<void> {
    if (policy.hash === this.#policyHash) return;
    const watch = await this.#world.watches.of(policy);
    if (watch === null || policy.hash === this.#policyHash) return;
    this.#policyHash = policy.hash;
    const found = this.screen.watchFor(compilePatterns(this.#spec.patterns, watch), watch.tailLines);
    this.#beating.matched(found);
    if (found.length > 0) this.#beating.soon();
  }

  #facts(): TerminalFacts {
    const { lastOutputAt, lines, repeatedError } = this.screen;
    const asksSince = this.screen.asksSince(this.#world.clock.now());
    return {
      ...{ lastOutputAt, lines, repeatedError, asksSince },
      ...{ completionAt: this.#completionAt, resultAt: this.#resultAt, tail: this.screen.reported },
      paused: this.#paused,
      limits: this.#meter.reports,
      work: this.#world.workOf(this.#spec.taskId),
    };
  }

  get #isAsking(): boolean {
    return this.screen.asksSince(this.#world.clock.now()) !== null;
  }

  output(data: Buffer): void {
    this.#meter.output(data.length);
    const now = this.#world.clock.now();
    const seen = this.screen.write(this.#decoder.decode(data, { stream: true }), now);
    if (seen.fresh) this.#progress = outputSeen(this.#progress, this.#beating.next, seen.completed);
    if (seen.completed) this.#completionAt = now;
    if (seen.hasResult) this.#resultAt = now;
    this.#beating.matched(seen.matched);
    if (seen.hasResult || seen.matched.some(({ kind }) => kind !== 'error')) this.#beating.soon();
  }

  /** The agent, or a helper of it, has reported something over the socket. */
  said(words: Said): void {
    this.#progress = agentSaid(this.#progress, words, this.#beating.next);
    this.#beating.said(words);
    this.#saidAt = this.#world.clock.now();
    if (isNotable(words, this.#activity)) this.#beating.soon();
    this.#activity = words.activity ?? this.#activity;
    if (words.checkpoint) this.#readNewest();
  }

  /** One at a time, however many an agent reports: what it has reported meanwhile is read next, the newest only. */
  #readNewest(): void {
    const { checkpoint } = this.#progress;
    if (this.#reading !== null || checkpoint === null) return;
    this.#reading = this.#read(checkpoint).finally(() => {
      this.#reading = null;
      if (this.#progress.checkpoint?.checkpoint_id !== checkpoint.checkpoint_id) this.#readNewest();
    });
  }

  /** A checkpoint is judged where it lies; one that lies elsewhere is left to whoever can read it. */
  async #read(checkpoint: Checkpoint): Promise<void> {
    const { taskId, checkpointRoots } = this.#spec;
    if (checkpoint.valid !== null || taskId === null) return;
    const validity = await validate(checkpoint, checkpointRoots, taskId);
    if (!validity.valid && validity.why === 'not_here') return;
    const read = { ...checkpoint, valid: validity.valid, invalid_reason: validity.valid ? null : validity.why };
    if (this.#progress.checkpoint?.checkpoint_id === read.checkpoint_id)
      this.#progress = { ...this.#progress, checkpoint: read };
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
    this.#progress = workSeen(this.#progress, this.#world.workOf(this.#spec.taskId), this.#beating.next);
    const asks = this.#isAsking;
    if (asks !== this.#asked) this.#beating.soon();
    this.#asked = asks;
  }

  set paused(paused: boolean) {
    this.#paused = paused;
    this.#beating.soon();
  }
  get progress(): Progress {
    return marked(this.#progress, ['heartbeat'], this.#beating.next - 1);
  }
  get atQuestion(): boolean {
    return this.#activity === 'awaiting_input' || this.#isAsking;
  }
  get isQuiet(): boolean {
    return this.screen.isStill(this.#world.clock.now());
  }
  /** epoch milliseconds; null: it has neither printed nor said anything */
  get heardAt(): number | null {
    return Math.max(this.#saidAt ?? 0, this.screen.lastOutputAt ?? 0) || null;
  }
  /** by which it is judged, as far as that is known */
  get policy(): string | null {
    return this.#beating.policy ?? this.#spec.policy;
  }
  get hasCompleted(): boolean {
    return this.#completionAt !== null;
  }
  /** it says itself that it is done */
  get saysFinished(): boolean {
    return this.#activity === 'finished';
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
