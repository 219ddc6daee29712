/** Agents by the time of their next heartbeat. All have the same interval, so the order of adding is that of the times. */
export class Schedule {
  readonly #agents: Uint32Array;
  readonly #times: Float64Array;
  #first = 0;
  #size = 0;

  constructor(most: number) {
    this.#agents = new Uint32Array(most);
    this.#times = new Float64Array(most);
  }

  /** `at`: of the next heartbeat, not before any that was added earlier. */
  add(agent: number, at: number): void {
    const place = (this.#first + this.#size) % this.#agents.length;
    this.#agents[place] = agent;
    this.#times[place] = at;
    this.#size += 1;
  }

  /** Removes and returns the agents whose heartbeat is due. */
  take(now: number): readonly number[] {
    const due: number[] = [];
    while (this.#size > 0 && (this.#times[this.#first] ?? 0) <= now) {
      due.push(this.#agents[this.#first] ?? 0);
      this.#first = (this.#first + 1) % this.#agents.length;
      this.#size -= 1;
    }
    return due;
  }
}
