/** Where in the stream of a terminal a byte stands: only in `text` can something else be put between two bytes. */
type Place = 'text' | 'character' | 'escape' | 'control' | 'string' | 'string_escape';

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
/** Bytes of a title that are kept. */
const LONGEST_TITLE = 1000;

/** Characters that open a string: OSC, DCS, SOS, PM, APC. */
const OPENS_STRING: ReadonlySet<string> = new Set([']', 'P', 'X', '^', '_']);

/** How many bytes of a UTF-8 character follow this one. */
const following = (byte: number): number => {
  if (byte >= 0xf0 && byte < 0xf5) return 3;
  if (byte >= 0xe0 && byte < 0xf0) return 2;
  return byte >= 0xc2 && byte < 0xe0 ? 1 : 0;
};

/** Follows what a program writes to its terminal (ECMA-48, xterm's control sequences), as far as its titles and the ends of its sequences. */
export class Sequences {
  #place: Place = 'text';
  #missing = 0;
  #isCommand = false;
  #string: number[] = [];
  #title: string | null = null;
  #titles = 0;

  /** true: no escape sequence and no character is half written */
  get isBetween(): boolean {
    return this.#place === 'text';
  }
  /** the title that the program has set last; null: none */
  get title(): string | null {
    return this.#title;
  }
  /** how often it has set one */
  get titles(): number {
    return this.#titles;
  }

  read(data: Uint8Array): void {
    for (const byte of data) this.#place = this.#after(byte);
  }

  #after(byte: number): Place {
    switch (this.#place) {
      case 'text':
        return this.#fromText(byte);
      case 'character':
        if ((byte & 0xc0) !== 0x80) return this.#fromText(byte);
        this.#missing -= 1;
        return this.#missing > 0 ? 'character' : 'text';
      case 'escape':
        return this.#fromEscape(byte);
      case 'control':
        if (byte === ESC) return 'escape';
        return (byte >= 0x40 && byte <= 0x7e) || byte === CAN || byte === SUB ? 'text' : 'control';
      case 'string':
        return this.#fromString(byte);
      case 'string_escape':
        if (byte !== 0x5c) return this.#fromEscape(byte);
        return this.#stringEnds();
    }
  }

  #fromText(byte: number): Place {
    if (byte === ESC) return 'escape';
    this.#missing = following(byte);
    return this.#missing > 0 ? 'character' : 'text';
  }

  #fromEscape(byte: number): Place {
    if (byte === ESC) return 'escape';
    const character = String.fromCharCode(byte);
    if (character === '[') return 'control';
    if (OPENS_STRING.has(character)) {
      [this.#isCommand, this.#string] = [character === ']', []];
      return 'string';
    }
    const isIntermediate = byte >= 0x20 && byte <= 0x2f;
    return isIntermediate ? 'escape' : 'text';
  }

  #fromString(byte: number): Place {
    if (byte === ESC) return 'string_escape';
    if (byte === CAN || byte === SUB) return 'text';
    if (byte === BEL && this.#isCommand) return this.#stringEnds();
    if (this.#isCommand && this.#string.length < LONGEST_TITLE) this.#string.push(byte);
    return 'string';
  }

  /** OSC 0 sets the title and the icon's name, OSC 2 the title. */
  #stringEnds(): Place {
    const [, title] = /^[02];(.*)$/su.exec(Buffer.from(this.#string).toString('utf8')) ?? [];
    if (this.#isCommand && title !== undefined) {
      this.#title = title;
      this.#titles += 1;
    }
    return 'text';
  }
}
