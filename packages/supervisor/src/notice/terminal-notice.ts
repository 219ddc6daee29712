import { Sequences } from './sequences.ts';

const BEL = '\x07';
/** xterm keeps titles on a stack; a terminal without one ignores both, and is left with an empty title, which means its own. */
const SAVE_TITLE = '\x1b[22;2t';
const RESTORE_TITLE = '\x1b[23;2t';
const LONGEST_TITLE = 160;

const titled = (text: string): string => `\x1b]2;${text.replace(/\p{Cc}/gu, ' ').slice(0, LONGEST_TITLE)}\x1b\\`;

/** The console of Linux and a dumb terminal print unknown sequences. */
export const hasTitle = (term: string | undefined): boolean =>
  term !== undefined && !['', 'dumb', 'linux'].includes(term);

/**
 * A line for people on a terminal that another program draws on: a bell, and the line as the terminal's title.
 * Neither moves the cursor nor changes a cell.
 * Nothing is written into the middle of a sequence of the program; a title that it sets meanwhile comes after
 * Vigil's.
 */
export class TerminalNotice {
  readonly #write: (text: string) => void;
  readonly #hasTitle: boolean;
  readonly #sequences = new Sequences();
  #titles = 0;
  #line: string | null = null;
  #rings = false;
  #isSaved = false;
  #isDue = false;

  constructor(write: (text: string) => void, terminalHasTitle: boolean) {
    this.#write = write;
    this.#hasTitle = terminalHasTitle;
  }

  /** The program has written this to the terminal. */
  written(data: Uint8Array): void {
    this.#sequences.read(data);
    const hasNewTitle = this.#sequences.titles !== this.#titles;
    this.#titles = this.#sequences.titles;
    if (hasNewTitle && this.#line !== null) this.#isDue = true;
    this.#draw();
  }

  /** Shows the line until it is taken back by null. `rings`: whether a bell draws attention to the change. */
  show(line: string | null, rings: boolean): void {
    if (line === this.#line) return;
    this.#line = line;
    this.#rings ||= rings;
    this.#isDue = true;
    this.#draw();
  }

  /** The program writes no more: the title is as it would be without the notice. */
  end(): void {
    this.#line = null;
    this.#isDue = this.#isSaved;
    this.#rings = false;
    this.#now();
  }

  #draw(): void {
    if (this.#sequences.isBetween) this.#now();
  }

  #now(): void {
    if (!this.#isDue) return;
    const text = (this.#hasTitle ? this.#titleNow() : '') + (this.#rings ? BEL : '');
    [this.#isDue, this.#rings] = [false, false];
    if (text !== '') this.#write(text);
  }

  #titleNow(): string {
    const save = this.#isSaved ? '' : SAVE_TITLE;
    if (this.#line !== null) {
      this.#isSaved = true;
      return save + titled(this.#line);
    }
    if (!this.#isSaved) return '';
    this.#isSaved = false;
    const { title } = this.#sequences;
    return title === null ? titled('') + RESTORE_TITLE : RESTORE_TITLE + titled(title);
  }
}
