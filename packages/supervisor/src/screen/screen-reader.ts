import { decideTyping, type SessionFacts, type TypingDecision } from '../typing/decide.ts';
import type { AgentScreen } from './agent-screen.ts';
import { isSilenceKnown, printsLines, type Surface } from './surface.ts';
import { type ScreenReport, screenReport } from './waiting.ts';

type ScreenReaderDeps = {
  readonly drawn: AgentScreen;
  /** milliseconds */
  readonly monotonic: () => number;
  /** what its client has reported of the session */
  readonly session: () => SessionFacts;
  /** the screen shows a new fact about the agent, which is to be judged at once */
  readonly onChange: () => void;
};

/** Reads what an agent's screen shows: its surface, and the facts that a heartbeat reports. */
export class ScreenReader {
  readonly #deps: ScreenReaderDeps;
  #surface: Surface;
  #shown: ScreenReport = { activity: null, waitingFor: null };

  constructor(deps: ScreenReaderDeps) {
    this.#deps = deps;
    this.#surface = deps.drawn.look(deps.monotonic());
  }

  look(): Surface {
    const { drawn, monotonic, session, onChange } = this.#deps;
    this.#surface = drawn.look(monotonic());
    const report = screenReport(this.#surface, session());
    if (JSON.stringify(report) !== JSON.stringify(this.#shown)) onChange();
    this.#shown = report;
    return this.#surface;
  }

  /** `now`: epoch milliseconds */
  facts(now: number): ScreenReport & { readonly since: number } {
    const surface = this.look();
    return { ...this.#shown, since: Math.round(now - surface.steadyMs) };
  }

  /** Whether silence of the terminal is silence of the agent. */
  isSilenceKnown = (hasSession: boolean): boolean => isSilenceKnown(this.#surface, hasSession);

  /** Whether its client shows a question or a dialog. */
  get hasDialog(): boolean {
    return this.#shown.waitingFor !== null && this.#shown.waitingFor.kind !== 'prompt';
  }

  /** False: its client is known, and takes prompts at its terminal. */
  get mayBeHeadless(): boolean {
    return this.#surface.client?.invocation.headless !== false;
  }

  /** Whether a text may be typed now. */
  get typing(): TypingDecision {
    return decideTyping(this.#surface, this.#deps.session());
  }

  /** Whether typed text is echoed as a line. */
  get echoesLines(): boolean {
    return printsLines(this.#surface);
  }
}
