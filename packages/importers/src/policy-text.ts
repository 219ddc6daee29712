import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PRESETS, place as spelledPlace } from '@vigil/policy';
import { type Document, isCollection, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap } from 'yaml';

type Place = readonly (string | number)[];
type Noted = Node & { comment?: string | null };

/** A preset's document into which a source's figures are written. Each written line names the origin of its figure. */
export class PolicyText {
  readonly #document: Document;
  /** for each line, the source keys of its figures */
  readonly #notes = new Map<Noted, Map<string, string>>();
  /** for each written place, its source key; the last one counts */
  readonly #origins = new Map<string, string>();

  constructor(preset: string) {
    const text = readFileSync(path.join(PRESETS, `${preset}.yaml`), 'utf8');
    this.#document = parseDocument(text.replace(/^(#.*\n)+/, ''));
  }

  /** `target`: a dotted path; `steps.nudge.attempts` is that setting of the step in every plan that has it. */
  put(target: string, value: unknown, from: string): void {
    for (const place of this.#places(target.split('.'))) {
      this.#document.setIn(place, this.#document.createNode(value, { flow: true }));
      this.#note(place, from);
    }
  }

  /** Replaces the steps of the plan for `when`. */
  plan(when: string, steps: readonly unknown[], from: string): void {
    const index = this.#plans().findIndex((plan) => plan.get('when') === when);
    this.#document.setIn(['plans', index, 'do'], this.#document.createNode(steps, { flow: true }));
    this.#note(['plans', index, 'do'], from);
  }

  /** Removes a step from every plan. */
  withoutStep(step: string, from: string): void {
    for (const [, at] of this.#steps(step).reverse()) {
      this.#document.deleteIn(at);
      this.#note(at.slice(0, -1), from);
    }
  }

  /** Removes signals from the items of states that name only them. */
  withoutSignals(names: readonly string[], from: string): void {
    for (const { key, value } of (this.#document.get('states') as YAMLMap).items)
      if (isSeq(value)) {
        const kept = value.items.filter((line) => !names.includes(String(line)));
        if (kept.length === value.items.length) continue;
        value.items = kept;
        this.#note(['states', String(key)], from);
      }
    for (const name of names) this.#document.deleteIn(['signals', name]);
  }

  /** The source key for a mistake (`place: …`); null without one. */
  originOf(mistake: string): string | null {
    const stands = (place: string) => mistake.startsWith(place) && '.[:'.includes(mistake.charAt(place.length));
    return [...this.#origins].findLast(([place]) => stands(place))?.[1] ?? null;
  }

  text(heading: string): string {
    this.#document.commentBefore = heading.replaceAll(/^/gm, ' ');
    return this.#document.toString({ lineWidth: 0 });
  }

  #plans(): readonly YAMLMap[] {
    const plans = this.#document.get('plans');
    return isSeq(plans) ? plans.items.filter(isMap) : [];
  }

  /** Each step of that name, with its place. */
  #steps(step: string): (readonly [node: unknown, at: Place])[] {
    return this.#plans().flatMap((plan, p) => {
      const steps = plan.get('do');
      return (isSeq(steps) ? steps.items : []).flatMap((node, s) =>
        isMap(node) && node.has(step) ? [[node, ['plans', p, 'do', s]] as const] : [],
      );
    });
  }

  #places([section, step = '', ...rest]: readonly string[]): readonly Place[] {
    if (section !== 'steps') return [[section ?? '', ...(step ? [step, ...rest] : [])]];
    return this.#steps(step).map(([, at]) => [...at, step, ...rest]);
  }

  /** A comment inside `{ … }` would break its line, so it is added after the outermost one. */
  #note(place: Place, from: string): void {
    this.#origins.delete(spelledPlace(place));
    this.#origins.set(spelledPlace(place), from);
    const line = this.#line(place);
    if (line === null) return;
    const notes = this.#notes.get(line) ?? oursOn(line);
    notes.set(place.join('.'), from);
    this.#notes.set(line, notes);
    line.comment = ` ${[...new Set(notes.values())].join(', ')}`;
  }

  #line(place: Place): Noted | null {
    for (let depth = 1; depth <= place.length; depth++) {
      const node = this.#document.getIn(place.slice(0, depth), true);
      if (isScalar(node) || (isCollection(node) && node.flow)) return node;
    }
    return null;
  }
}

/** Keeps the preset's own note if it marks one of Vigil's figures. */
const oursOn = ({ comment }: Noted): Map<string, string> =>
  new Map(comment?.includes('(p)') ? [['', comment.trim()]] : []);
