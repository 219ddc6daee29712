import type { AgentRow } from '@vigil/read-model';
import picocolors from 'picocolors';
import { agentsTable, byUrgency } from '../render/agents/agents.ts';
import { explainLines } from '../render/agents/explain.ts';
import { isNotRoutine, storyLine } from '../render/describe.ts';
import { fleetLines, fleetWords } from '../render/fleet/fleet.ts';
import { isCurrent, knowledgeLines } from '../render/knowledge.ts';
import { ALWAYS } from '../render/period.ts';
import { clockTime, cut, cutPainted, type View } from '../render/view.ts';
import {
  type AgentSituation,
  type Extent,
  type FleetSituation,
  type Situation,
  scrolled,
  selectedIndex,
} from './keys.ts';
import type { Look, Seen } from './seen.ts';

/** The lines of a screen, at most `rows`, and what keys can move in. */
export type Screen = { readonly lines: readonly string[]; readonly extent: Extent };

/** The newest events below the list, where the terminal has room for them. */
const MOST_OF_STORY = 8;
const LEAST_OF_LIST = 5;
const NO_EXTENT: Extent = { shown: [], lines: 0, page: 1 };

export const screenOf = (view: View, rows: number, at: Situation, look: Look): Screen => {
  if (look.seen === null)
    return {
      lines: fitted(view, [...knowledgeLines(view, look.knowledge), 'Waiting for the first answer …'], rows),
      extent: NO_EXTENT,
    };
  return at.kind === 'fleet' ? fleetScreen(view, rows, at, look.seen, look) : agentScreen(view, rows, at, look);
};

/** The terminal writes what is behind a full line over its last character. */
const fitted = ({ width }: View, lines: readonly string[], rows: number): readonly string[] =>
  lines.slice(0, Math.max(1, rows)).map((line) => cutPainted(line, width));

const contains = ({ agentId, state, taskId, reason, policyName, labels }: AgentRow, find: string): boolean =>
  [agentId, state, taskId, reason, policyName, ...Object.entries(labels).map((pair) => pair.join('='))].some((text) =>
    text?.toLowerCase().includes(find.toLowerCase()),
  );

/** The agents are those that are listed. What waits for a person is that of the whole fleet, as `vigil inbox` has it. */
const countText = ({ agents, inbox }: Seen): string => {
  const unhealthy = agents.filter((agent) => agent.unhealthy).length;
  const waiting = inbox === null ? '' : `, ${inbox} in the inbox`;
  return `${agents.length} agents, ${unhealthy} unhealthy${waiting}`;
};

const titleOf = (view: View, seen: Seen): string => {
  const { fleet } = seen;
  const held = fleetWords(fleet).map((word) => `  ${view.paint.red(view.paint.bold(word))}`);
  return `${view.paint.bold('vigil')}${held.join('')}  ${countText(seen)}  ${view.paint.dim(clockTime(view, view.now))}`;
};

const headOf = (view: View, seen: Seen, { knowledge }: Look): readonly string[] => [
  titleOf(view, seen),
  ...knowledgeLines(view, knowledge),
  ...fleetLines(view, seen.fleet),
  '',
];

const fleetHint = (view: View, { find, isTyping }: FleetSituation, range: string): string => {
  if (isTyping) return `${view.paint.bold(`/${find}_`)}  ${view.paint.dim('Enter keeps it, Esc removes it')}`;
  const found = find === '' ? '' : `"${find}" (Esc: all)  `;
  return view.paint.dim(cut(`${range}  ${found}↑ ↓ PgUp PgDn: move  Enter: explain  /: find  q: quit`, view.width));
};

const fleetScreen = (view: View, rows: number, at: FleetSituation, seen: Seen, look: Look): Screen => {
  const head = headOf(view, seen, look);
  const agents = byUrgency(seen.agents.filter((agent) => contains(agent, at.find)));
  const shown = agents.map(({ agentId }) => agentId);
  const room = rows - head.length - 2; // the heading of the table, the hint
  const forStory = Math.max(0, Math.min(MOST_OF_STORY + 2, room - Math.max(LEAST_OF_LIST, Math.ceil(room / 2))));
  const page = Math.max(1, room - (forStory < 3 ? 0 : forStory));
  const selected = selectedIndex(at, shown);
  const top = Math.min(scrolled(at.top, selected, page), Math.max(0, shown.length - page));
  const [heading = '', ...table] = agentsTable(view, agents, isCurrent(look.knowledge), Number.POSITIVE_INFINITY);
  const listed = table
    .slice(top, top + page)
    .map((line, i) => (top + i === selected ? view.paint.inverse(cutPainted(line, view.width)) : line));
  const range = `${shown.length === 0 ? 0 : top + 1}–${Math.min(top + page, shown.length)} of ${shown.length}`;
  const lines = [heading, ...listed, ...blank(page - listed.length), ...latelyLines(view, seen, forStory)];
  return {
    lines: fitted(view, [...head, ...lines, fleetHint(view, at, range)], rows),
    extent: { shown, lines: 0, page },
  };
};

const blank = (count: number): readonly string[] => Array.from({ length: Math.max(0, count) }, () => '');

const latelyLines = (view: View, { story }: Seen, room: number): readonly string[] => {
  if (room < 3) return [];
  const newest = story.filter(isNotRoutine).slice(2 - room);
  return [
    '',
    view.paint.bold('Lately'),
    ...newest.map((entry) => storyLine(view, entry)),
    ...blank(room - 2 - newest.length),
  ];
};

/** A long line continues below, indented. */
const wrapped = (line: string, width: number): readonly string[] => {
  if (line.length <= width) return [line];
  const indent = `${/^ */.exec(line)?.[0] ?? ''}  `;
  const at = line.lastIndexOf(' ', width);
  const end = at > indent.length ? at : width;
  return [line.slice(0, end), ...wrapped(indent + line.slice(end).trimStart(), width)];
};

const uncolored = picocolors.createColors(false);

const agentScreen = (view: View, rows: number, at: AgentSituation, { agent, knowledge }: Look): Screen => {
  const about = agent?.agent.agentId === at.agentId ? agent : null;
  const head = [
    `${view.paint.bold('vigil explain')} ${at.agentId}  ${view.paint.dim(clockTime(view, view.now))}`,
    ...knowledgeLines(view, knowledge),
    '',
  ];
  const wide = { ...view, paint: uncolored, width: Math.max(40, view.width) };
  const whole =
    about === null
      ? [`Nothing is known of ${at.agentId} yet.`]
      : explainLines(wide, about, { all: false, period: ALWAYS, isNow: isCurrent(knowledge) });
  const lines = whole.flatMap((line) => wrapped(line, wide.width));
  const page = Math.max(1, rows - head.length - 1);
  const top = Math.min(at.top, Math.max(0, lines.length - page));
  const body = lines.slice(top, top + page);
  const hint = `${top + 1}–${top + body.length} of ${lines.length} lines  ↑ ↓ PgUp PgDn: move  Esc: back  q: quit`;
  return {
    lines: fitted(view, [...head, ...body, ...blank(page - body.length), view.paint.dim(cut(hint, view.width))], rows),
    extent: { shown: [], lines: lines.length, page },
  };
};
