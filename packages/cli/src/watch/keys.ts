/** What is on the screen, and where in it. `selected`: an agent, so that a changed order does not move to another one. */
export type FleetSituation = {
  readonly kind: 'fleet';
  readonly selected: string | null;
  /** the first shown agent, from 0 */
  readonly top: number;
  /** what the shown agents contain; empty: all agents are shown */
  readonly find: string;
  readonly isTyping: boolean;
};
export type AgentSituation = {
  readonly kind: 'agent';
  readonly agentId: string;
  /** the first shown line, from 0 */
  readonly top: number;
  readonly behind: FleetSituation;
};
export type Situation = FleetSituation | AgentSituation;

export const START: FleetSituation = { kind: 'fleet', selected: null, top: 0, find: '', isTyping: false };

/** A pressed key, as node:readline names it. `text`: what it types; undefined: nothing. */
export type Key = { readonly name: string | undefined; readonly ctrl: boolean; readonly text: string | undefined };

/** `shown`: the listed agents in their order. `lines`: of the opened agent. `page`: agents or lines that fit. */
export type Extent = { readonly shown: readonly string[]; readonly lines: number; readonly page: number };

const STEPS: Readonly<Record<string, (page: number) => number>> = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  pageup: (page) => -page,
  pagedown: (page) => page,
  space: (page) => page,
  home: () => Number.NEGATIVE_INFINITY,
  end: () => Number.POSITIVE_INFINITY,
};

const within = (value: number, last: number): number => Math.max(0, Math.min(value, last));

/** The situation after a key; null: the view ends. */
export const press = (at: Situation, key: Key, extent: Extent): Situation | null => {
  if (key.ctrl && key.name === 'c') return null;
  if (at.kind === 'fleet' && at.isTyping) return type(at, key);
  if (key.name === 'q') return null;
  return at.kind === 'fleet' ? inFleet(at, key, extent) : inAgent(at, key, extent);
};

const type = (at: FleetSituation, { name, ctrl, text }: Key): FleetSituation => {
  if (name === 'return' || name === 'enter') return { ...at, isTyping: false };
  if (name === 'escape') return { ...at, isTyping: false, find: '' };
  if (name === 'backspace') return { ...at, find: at.find.slice(0, -1) };
  return ctrl || text === undefined || !/^[\x20-\x7e]$/.test(text) ? at : { ...at, top: 0, find: at.find + text };
};

const inFleet = (at: FleetSituation, { name, text }: Key, { shown, page }: Extent): Situation => {
  if (text === '/') return { ...at, isTyping: true };
  if (name === 'escape') return { ...at, find: '' };
  const index = selectedIndex(at, shown);
  const agentId = shown[index];
  if (agentId === undefined) return at;
  if (name === 'return' || name === 'enter')
    return { kind: 'agent', agentId, top: 0, behind: { ...at, selected: agentId } };
  const step = STEPS[name ?? ''];
  if (step === undefined) return at;
  const next = within(index + step(page), shown.length - 1);
  return { ...at, selected: shown[next] ?? null, top: scrolled(at.top, next, page) };
};

const inAgent = (at: AgentSituation, { name }: Key, { lines, page }: Extent): Situation => {
  if (name === 'escape' || name === 'left' || name === 'backspace') return at.behind;
  const step = STEPS[name ?? ''];
  return step === undefined ? at : { ...at, top: within(at.top + step(page), lines - page) };
};

/** The place of the selected agent; the first one where it is not shown. */
export const selectedIndex = ({ selected }: FleetSituation, shown: readonly string[]): number =>
  Math.max(0, selected === null ? 0 : shown.indexOf(selected));

/** The first shown place, moved as little as the selected place requires. */
export const scrolled = (top: number, selected: number, page: number): number =>
  selected < top ? selected : Math.max(top, selected - page + 1);
