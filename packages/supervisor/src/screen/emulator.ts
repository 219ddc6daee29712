import type { ScreenView } from '@vigil/adapters/adapter';
import xterm, { type IBufferLine } from '@xterm/headless';
import type { Size } from '../terminal/terminal.ts';

/** Modes that a program sets once, at its start, so that its later output does not show them. Plain JSON. */
export type EmulatorMemory = { readonly alternate: boolean; readonly bracketedPaste: boolean };

export const noEmulatorMemory: EmulatorMemory = { alternate: false, bracketedPaste: false };

const ENTER_ALTERNATE = '\u001b[?1049h';
const ENTER_BRACKETED_PASTE = '\u001b[?2004h';

/** A cursor that a program draws itself (inverse) over the beginning of a faint hint is part of the hint. */
const isFaint = (line: IBufferLine, column: number): boolean => {
  const cell = line.getCell(column);
  if (cell === undefined || cell.isDim() !== 0) return true;
  return cell.isInverse() !== 0 && (line.getCell(column + 1)?.isDim() ?? 0) !== 0;
};

const withoutFaint = (line: IBufferLine): string => {
  let text = '';
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    text += isFaint(line, column) || cell.getChars() === '' ? ' '.repeat(cell.getWidth()) : cell.getChars();
  }
  return text.trimEnd();
};

/** Sequences that are drawn as often as their first parameter requests: scrolling and lines, then tabs and a repeated character. */
const repeatedByRow = ['S', 'T', 'L', 'M'];
const repeatedByColumn = ['I', 'Z', 'b'];

/**
 * Leaves out sequences that repeat more often than the screen has rows or columns. No client sends them, and one with a count of two
 * billion, as a binary file may hold, would stop the whole supervisor for minutes.
 */
const limitRepetition = (terminal: xterm.Terminal): void => {
  const limit = (finals: readonly string[], most: () => number) => {
    for (const final of finals)
      terminal.parser.registerCsiHandler({ final }, ([count]) => typeof count === 'number' && count > most());
  };
  limit(repeatedByRow, () => terminal.rows);
  limit(repeatedByColumn, () => terminal.cols);
};

/** Lines above the screen that are kept. */
const SCROLLBACK = 200;

/** The lines of a terminal, oldest first. `passed`: how many have left the screen at the top since the start. */
export type History = { readonly lines: readonly string[]; readonly passed: number };

/** The screen of one terminal, as a real one would draw it. Answers no query of the program: an answer would be input. */
export class Emulator {
  readonly #terminal: xterm.Terminal;
  #written: Promise<void> = Promise.resolve();
  #passed = 0;

  /** `memory`: the modes when the output begins that is written to it */
  constructor({ columns, rows }: Size, memory: EmulatorMemory) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: SCROLLBACK, allowProposedApi: true });
    limitRepetition(this.#terminal);
    this.#terminal.onScroll(() => {
      this.#passed += 1;
    });
    void this.write((memory.alternate ? ENTER_ALTERNATE : '') + (memory.bracketedPaste ? ENTER_BRACKETED_PASTE : ''));
  }

  /** Resolves when all that was written so far is drawn. */
  write(data: Buffer | string): Promise<void> {
    this.#written = new Promise((resolve) => this.#terminal.write(data, resolve));
    return this.#written;
  }

  get settled(): Promise<void> {
    return this.#written;
  }

  resize({ columns, rows }: Size): void {
    this.#terminal.resize(Math.max(1, columns), Math.max(1, rows));
  }

  get bracketedPaste(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }

  get alternate(): boolean {
    return this.#terminal.buffer.active.type === 'alternate';
  }

  get memory(): EmulatorMemory {
    return { alternate: this.alternate, bracketedPaste: this.bracketedPaste };
  }

  /** A line that the terminal has divided over several rows is one line. */
  get history(): History {
    const buffer = this.#terminal.buffer.active;
    const lines: string[] = [];
    for (let row = 0; row < buffer.length; row += 1) {
      const line = buffer.getLine(row);
      if (line === undefined) continue;
      const continues = buffer.getLine(row + 1)?.isWrapped ?? false;
      const text = line.translateToString(!continues);
      if (line.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    while (lines.at(-1) === '') lines.pop();
    return { lines, passed: this.#passed };
  }

  get view(): ScreenView {
    const buffer = this.#terminal.buffer.active;
    const lines: string[] = [];
    const bright: string[] = [];
    for (let row = 0; row < this.#terminal.rows; row += 1) {
      const line = buffer.getLine(buffer.baseY + row);
      lines.push(line?.translateToString(true) ?? '');
      bright.push(line === undefined ? '' : withoutFaint(line));
    }
    const cursor = { column: buffer.cursorX, row: buffer.cursorY };
    return { lines, withoutFaint: bright, cursor, alternate: this.alternate };
  }
}
