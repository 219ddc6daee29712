import { hashes } from '@vigil/sdk/hashes';
import { presetsWith } from '../fixture.ts';
import { runJudge } from '../recorded/judge.ts';
import { readRun } from '../recorded/run.ts';

/** A call as a run records it. */
export type Made = {
  readonly tool: string;
  readonly args: unknown;
  readonly result: unknown;
  readonly err?: boolean;
  readonly mutating?: boolean;
  readonly polling?: boolean;
};

/** Values of one seed. */
export class Values {
  #state: number;
  #clock: number;
  constructor(seed: number) {
    this.#state = seed * 2_246_822_519 + 7;
    this.#clock = Date.UTC(2026, 10, 27, 10, 51, 10) + seed * 977_123;
  }
  below(n: number): number {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * n);
  }
  from(characters: string, n: number): string {
    return Array.from({ length: n }, () => characters[this.below(characters.length)]).join('');
  }
  hex(n: number): string {
    return this.from('0123456789abcdef', n);
  }
  uuid(): string {
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`;
  }
  /** A later time with each call. */
  time(): Date {
    this.#clock += 3_000 + this.below(40_000);
    return new Date(this.#clock + this.below(1000));
  }
  iso(): string {
    return this.time().toISOString();
  }
  seconds(): string {
    return `${this.below(60)}.${10 + this.below(90)}`;
  }
}

export const times = <T>(n: number, one: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => one(i));
const presets = presetsWith('vigil').all;
const judgeBy = (name: string) => runJudge(presets.find((preset) => preset.name === name)!, hashes, 5_000);
const judges = { vigil: judgeBy('vigil'), coditect: judgeBy('coditect') };
/** How a preset judges a run of these calls, five seconds apart. */
export const judged = (by: keyof typeof judges, calls: readonly Made[]) =>
  judges[by](readRun(JSON.stringify({ run_id: 'r', calls })));
export const FLAGGED: readonly string[] = ['STUCK', 'FAILING'];
