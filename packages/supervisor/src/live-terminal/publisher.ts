import { setImmediate } from 'node:timers/promises';
import { pause } from '../clock.ts';
import type { GatewayDeps } from '../deps.ts';
import type { TerminalReport } from '../gateway/gateway-client.ts';
import { Leases, MOST_TERMINALS, type TerminalLease } from './leases.ts';
import { safeLine, withoutKeys } from './line-filter.ts';
import type { SourceTerminal } from './source.ts';
import { changeBetween, fitted, MOST_LINES } from './window.ts';

/** An instance that may have a terminal to publish. */
export type TerminalSource = {
  readonly spec: { readonly agentId: string; readonly instanceId: string };
  readonly isOver: () => boolean;
  readonly hasSubagent: (agentId: string) => boolean;
  readonly shownTerminal: () => SourceTerminal;
};

export type PublisherDeps = Pick<GatewayDeps, 'clock' | 'logger' | 'gateway'>;

/** The shortest time between two records of a terminal, and the longest, milliseconds. */
const LEAST_PAUSE_MS = 500;
const LONGEST_SILENCE_MS = 5000;
/** After its work the publisher rests this many times as long, so that agents and orders do not wait for it. */
const REST_FACTOR = 9;
/** How long the last report may take, milliseconds. */
const FAREWELL_MS = 1500;
/** Work at a time, milliseconds. */
const SLICE_MS = 10;

/** `sequence` 0: all lines are sent with the next record. */
type Shown = {
  instanceId: string;
  source: readonly string[];
  lines: readonly string[];
  passed: number;
  sequence: number;
  publishedAt: number;
};

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((line, i) => line === other[i]);

const ENDED = 'the agent has ended';
const TOO_MANY = `the terminals of ${MOST_TERMINALS} other agents of its runtime are shown: close one of them`;
const NO_TERMINAL = 'a sub-agent has no terminal of its own: show that of its parent agent';

/**
 * Publishes the terminals of leased agents: the last lines, then their changes. Only the newest lines count, so a record that cannot be
 * sent is not kept; all lines follow later. Without a lease, nothing is read and nothing is sent.
 */
export class TerminalPublisher {
  readonly #deps: PublisherDeps;
  readonly #runtimeId: string;
  readonly #instances: () => Iterable<TerminalSource>;
  readonly #leases = new Leases();
  readonly #shown = new Map<string, Shown>();
  /** why the terminal of an agent was reported as closed */
  readonly #closed = new Map<string, string>();
  #isFailing = false;
  #wake = Promise.withResolvers<void>();

  constructor(deps: PublisherDeps, runtimeId: string, instances: () => Iterable<TerminalSource>) {
    this.#deps = deps;
    this.#runtimeId = runtimeId;
    this.#instances = instances;
  }

  observe(leases: readonly TerminalLease[]): void {
    for (const lease of leases) {
      if (!this.#leases.observe(lease, this.#deps.clock.monotonic())) continue;
      const shown = this.#shown.get(lease.agentId);
      if (shown !== undefined) shown.sequence = 0;
      this.#closed.delete(lease.agentId);
    }
    this.#wake.resolve();
  }

  /** Until the signal fires. Viewers then receive that the runtime stops. */
  async run(signal: AbortSignal): Promise<void> {
    const { monotonic } = this.#deps.clock;
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    while (!signal.aborted) {
      const began = monotonic();
      const agents = this.#leases.agents(began);
      if (agents.length === 0) {
        this.#shown.clear();
        this.#closed.clear();
        this.#wake = Promise.withResolvers<void>();
        if (!signal.aborted) await this.#wake.promise;
        continue;
      }
      for (const agentId of this.#shown.keys()) if (!agents.includes(agentId)) this.#shown.delete(agentId);
      let worked = 0;
      for (const [place, agentId] of agents.entries()) worked += await this.#publish(agentId, place);
      await pause(Math.max(LEAST_PAUSE_MS - (monotonic() - began), worked * REST_FACTOR), signal);
    }
    const isAlive = (agentId: string) =>
      [...this.#instances()].some((one) => one.spec.agentId === agentId && !one.isOver());
    const closings = [...this.#shown.keys()].map((agentId) =>
      this.#close(agentId, isAlive(agentId) ? 'its runtime has stopped' : ENDED),
    );
    await Promise.race([Promise.all(closings), pause(FAREWELL_MS)]);
  }

  /** The milliseconds that the filter took. */
  async #publish(agentId: string, place: number): Promise<number> {
    if (place >= MOST_TERMINALS) return this.#close(agentId, TOO_MANY);
    const instances = [...this.#instances()];
    const source = instances.findLast((one) => one.spec.agentId === agentId && !one.isOver());
    if (source === undefined) {
      if (this.#shown.has(agentId)) return this.#close(agentId, ENDED);
      if (instances.some((one) => one.hasSubagent(agentId))) return this.#close(agentId, NO_TERMINAL);
      return this.#close(agentId, `no process of it runs with ${this.#runtimeId}`);
    }
    this.#closed.delete(agentId);
    const { instanceId } = source.spec;
    const terminal = source.shownTerminal();
    const last = this.#shown.get(agentId);
    const before =
      last?.instanceId === instanceId
        ? last
        : { instanceId, source: [], lines: [], passed: terminal.passed, sequence: 0, publishedAt: 0 };
    this.#shown.set(agentId, before);
    const began = this.#deps.clock.monotonic();
    const isStill = before.sequence > 0 && isSame(before.source, terminal.lines);
    const lines = isStill ? before.lines : fitted(await this.#filtered(terminal.lines));
    const took = this.#deps.clock.monotonic() - began;
    const unseen = before.sequence === 0 ? 0 : Math.max(0, terminal.passed - before.passed - MOST_LINES);
    const isDue = began - before.publishedAt >= LONGEST_SILENCE_MS;
    if (isStill && unseen === 0 && !isDue) return took;
    const whole = { removed: before.lines.length, kept: 0, lines };
    const change = before.sequence === 0 ? whole : changeBetween(before.lines, lines);
    const { sequence } = before;
    const { outputAt, passed } = terminal;
    const runtimeId = this.#runtimeId;
    // A lease that begins while this is on its way sets the sequence back to 0, for all lines.
    Object.assign(before, { source: terminal.lines, lines, passed, sequence: sequence + 1, publishedAt: began });
    const payload = { agentId, instanceId, runtimeId, sequence, ...change, unseen, outputAt };
    if (!(await this.#send({ type: 'TERMINAL_CHANGED', payload }))) before.sequence = 0;
    return took;
  }

  async #filtered(lines: readonly string[]): Promise<readonly string[]> {
    const { monotonic } = this.#deps.clock;
    const filtered: string[] = [];
    let began = monotonic();
    for (const line of withoutKeys(lines.slice(-MOST_LINES))) {
      filtered.push(safeLine(line));
      if (monotonic() - began < SLICE_MS) continue;
      await setImmediate();
      began = monotonic();
    }
    return filtered;
  }

  /** Once for each reason. */
  async #close(agentId: string, why: string): Promise<0> {
    if (this.#closed.get(agentId) === why) return 0;
    const instanceId = this.#shown.get(agentId)?.instanceId ?? null;
    this.#shown.delete(agentId);
    const payload = { agentId, instanceId, runtimeId: this.#runtimeId, why };
    if (await this.#send({ type: 'TERMINAL_CLOSED', payload })) this.#closed.set(agentId, why);
    return 0;
  }

  async #send(report: TerminalReport): Promise<boolean> {
    try {
      await this.#deps.gateway.terminal(report);
      this.#isFailing = false;
      return true;
    } catch (error) {
      const { agentId } = report.payload;
      if (!this.#isFailing) this.#deps.logger('a terminal cannot be published', { agentId, error: String(error) });
      this.#isFailing = true;
      return false;
    }
  }
}
