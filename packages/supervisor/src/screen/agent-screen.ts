import type { ScreenMeaning, ScreenView } from '@vigil/adapters/adapter';
import type { Size } from '../terminal/terminal.ts';
import { Emulator, type EmulatorMemory, type History } from './emulator.ts';
import type { InputMode } from './input-mode.ts';
import type { Surface } from './surface.ts';

/**
 * How old a reading of the terminal's mode may be: an unknown mode, during output, and without output; milliseconds.
 */
const modeLastsMs = { unknown: 500, printing: 2000, still: 10_000 };

const CARRIAGE_RETURN = 0x0d;

const noMeaning: ScreenMeaning = { kind: 'unknown' };

/** The screen of one agent, its meaning, and how its program reads input. */
export class AgentScreen {
  readonly #emulator: Emulator;
  readonly #client: Surface['client'];
  readonly #readMode: () => Promise<InputMode | null>;
  #mode: InputMode | null = null;
  #modeReadAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;
  #hasChanged = true;
  #hasReturned = false;
  #view: ScreenView;
  #meaning: ScreenMeaning = noMeaning;
  #since: number;

  /** `now`: monotonic, as all times here */
  constructor(
    client: Surface['client'],
    size: Size,
    memory: EmulatorMemory,
    readMode: () => Promise<InputMode | null>,
    now: number,
  ) {
    this.#emulator = new Emulator(size, memory);
    this.#client = client;
    this.#readMode = readMode;
    this.#since = now;
    this.#view = this.#emulator.view;
  }

  write(data: Buffer): void {
    this.#hasReturned ||= data.includes(CARRIAGE_RETURN);
    void this.#emulator.write(data).then(() => {
      this.#hasChanged = true;
    });
  }

  get drawn(): Promise<void> {
    return this.#emulator.settled;
  }

  /** Whether a carriage return was printed. A terminal adds one to each line; without any, the output goes to a pipe. */
  get hasReturned(): boolean {
    return this.#hasReturned;
  }

  get history(): History {
    return this.#emulator.history;
  }

  get memory(): EmulatorMemory {
    return this.#emulator.memory;
  }

  resize(size: Size): void {
    this.#hasChanged = true;
    this.#emulator.resize(size);
  }

  /** The latest that is known. Reads the mode in the background where it may have changed. */
  look(now: number): Surface {
    const known = this.#hasChanged ? modeLastsMs.printing : modeLastsMs.still;
    const lastsMs = this.#mode === null ? modeLastsMs.unknown : known;
    if (now - this.#modeReadAt >= lastsMs) void this.#refreshMode(now);
    this.#see(now);
    return this.#surface(now);
  }

  /** The current state: all output is drawn, and the mode is read. `now` is called when that is done. */
  async fresh(now: () => number): Promise<Surface> {
    await this.#reading;
    await this.#refreshMode(now());
    await this.#emulator.settled;
    this.#see(now());
    return this.#surface(now());
  }

  #refreshMode(now: number): Promise<void> {
    this.#modeReadAt = now;
    this.#reading ??= this.#readMode()
      .then((mode) => {
        this.#mode = mode;
      })
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  #see(now: number): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    this.#view = this.#emulator.view;
    const meaning = this.#client === null ? noMeaning : this.#client.screen(this.#view);
    if (JSON.stringify(meaning) !== JSON.stringify(this.#meaning)) this.#since = now;
    this.#meaning = meaning;
  }

  #surface(now: number): Surface {
    return {
      view: this.#view,
      bracketedPaste: this.#emulator.bracketedPaste,
      mode: this.#mode,
      client: this.#client,
      meaning: this.#meaning,
      steadyMs: now - this.#since,
    };
  }
}
