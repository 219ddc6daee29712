import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FleetAnswer } from '../live/routes.ts';
import { ROUTES } from '../live/routes.ts';
import { fleetActions } from '../model/actions.ts';
import {
  type Cell,
  cellText,
  cellTitle,
  countsOf,
  type Filter,
  hiddenMatches,
  lately,
  type Sort,
  STATES,
  shownCells,
} from '../model/fleet.ts';
import { addressOf } from '../model/places.ts';
import { figureOf, targetsOf } from '../model/targets.ts';
import { useAnswer, useKnown, usePage } from '../parts/context.tsx';
import { focusField } from '../parts/field.ts';
import { Grid } from '../parts/grid.tsx';
import { Actions, Age, AgentLink, Loaded, StateMark } from '../parts/parts.tsx';

const SORTS: readonly (readonly [Sort, string])[] = [
  ['urgency', 'What needs people'],
  ['changed', 'Changed last'],
  ['name', 'Name'],
  ['task', 'Task'],
  ['host', 'Host'],
];

const CELL_WIDTH = 190;
const LINE_HEIGHT = 46;
const LATELY = 12;

type FilterProps = { readonly filter: Filter; readonly onFilter: (filter: Filter) => void };

const States = ({ cells, filter, onFilter }: FilterProps & { readonly cells: readonly Cell[] }) => {
  const counts = useMemo(() => countsOf(cells), [cells]);
  const { text, tone } = useKnown();
  return (
    <fieldset class="states">
      <legend class="hidden">Agents by state</legend>
      {STATES.map((state) => (
        <button
          key={state}
          type="button"
          class={`chip ${tone(`state-${state.toLowerCase()}`)}`}
          aria-pressed={filter.state === state}
          onClick={() => onFilter({ ...filter, state: filter.state === state ? null : state })}
        >
          <span class="count">{counts[state]}</span> {text(state.toLowerCase())}
        </button>
      ))}
    </fieldset>
  );
};

/** `onEnter`: opens the first agent; `onLeave`: it is not to be opened any more. */
type FindProps = FilterProps & { readonly onEnter: () => void; readonly onLeave: () => void };

const Find = ({ filter, onFilter, onEnter, onLeave }: FindProps) => {
  const { places } = usePage();
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (field.current !== null && places.takesFocus('field')) focusField(field.current);
  }, [places]);
  return (
    <label class="find">
      <span class="hidden">Find agents</span>
      <input
        ref={field}
        id="find"
        type="search"
        placeholder="Find: agent, task, host, policy, label  ( / )"
        value={filter.find}
        onInput={(event) => onFilter({ ...filter, find: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== 'ArrowDown') return;
          event.preventDefault();
          if (event.key === 'Enter') onEnter();
          else document.querySelector<HTMLElement>('.cell')?.focus();
        }}
        onBlur={onLeave}
      />
    </label>
  );
};

type ControlsProps = FindProps & { readonly count: string };

const Controls = ({ filter, onFilter, onEnter, onLeave, count }: ControlsProps) => (
  <div class="controls">
    <Find filter={filter} onFilter={onFilter} onEnter={onEnter} onLeave={onLeave} />
    <label>
      Sort
      <select
        value={filter.sort}
        onChange={(event) => onFilter({ ...filter, sort: event.currentTarget.value as Sort })}
      >
        {SORTS.map(([sort, text]) => (
          <option key={sort} value={sort}>
            {text}
          </option>
        ))}
      </select>
    </label>
    <label class="check">
      <input
        type="checkbox"
        checked={filter.ended}
        onChange={(event) => onFilter({ ...filter, ended: event.currentTarget.checked })}
      />
      Ended
    </label>
    <span class="dim shown" role="status">
      {count}
    </span>
  </div>
);

export const FleetView = ({ filter, onFilter, answer }: FilterProps & { readonly answer: FleetAnswer | null }) => {
  const { live, places } = usePage();
  const [opensFirst, setOpensFirst] = useState(false);
  const answered = useAnswer(live, ROUTES.cells);
  const all = answered.value;
  const shown = useMemo(() => (all === null ? [] : shownCells(all, filter)), [all, filter]);
  useLayoutEffect(() => {
    if (!opensFirst || all === null) return;
    setOpensFirst(false);
    const [first] = shown;
    if (first !== undefined) return places.go({ view: 'fleet', id: first.agentId, query: '' });
    // Without a match, Enter shows the agents that the filter hides.
    const hidden = hiddenMatches(all, filter);
    if (hidden !== null) onFilter(hidden.filter);
  }, [opensFirst, all]);
  const onControls = (next: Filter): void => {
    setOpensFirst(false);
    onFilter(next);
  };
  const count = all === null ? '' : `${shown.length} of ${all.length} agents`;
  return (
    <>
      <div class="fleet-head">
        <Targets />
        {answer !== null && <Actions of={fleetActions(answer.fleet)} />}
      </div>
      {all !== null && <States cells={all} filter={filter} onFilter={onFilter} />}
      {/* A person may type words before the agents are there. */}
      <Controls
        filter={filter}
        onFilter={onControls}
        onEnter={() => setOpensFirst(true)}
        onLeave={() => setOpensFirst(false)}
        count={count}
      />
      <Loaded answered={answered}>
        {(cells) => <Cells cells={cells} shown={shown} filter={filter} onFilter={onFilter} />}
      </Loaded>
    </>
  );
};

/** No agent is shown: why, and a way to those that the filter hides. */
const NoCells = ({ cells, filter, onFilter }: FilterProps & { readonly cells: readonly Cell[] }) => {
  if (cells.length === 0) return <p class="none">No agent has reported yet.</p>;
  const hidden = hiddenMatches(cells, filter);
  if (hidden === null) return <p class="none">No agent matches.</p>;
  return (
    <p class="none" role="status">
      {hidden.text}{' '}
      <button type="button" class="button" onClick={() => onFilter(hidden.filter)}>
        Show
      </button>{' '}
      <kbd>Enter</kbd>
    </p>
  );
};

type CellsProps = FilterProps & { readonly cells: readonly Cell[]; readonly shown: readonly Cell[] };

const Cells = ({ cells, shown, filter, onFilter }: CellsProps) => {
  const { now, places } = usePage();
  const { text, tone } = useKnown();
  return (
    <div class="fleet">
      {shown.length === 0 ? (
        <NoCells cells={cells} filter={filter} onFilter={onFilter} />
      ) : (
        <Grid
          label="Agents"
          rows={shown}
          keyOf={({ agentId }) => agentId}
          cellWidth={CELL_WIDTH}
          lineHeight={LINE_HEIGHT}
          takesFocus={() => places.takesFocus('cells')}
        >
          {(cell, focus) => (
            <a
              {...focus}
              class={`cell ${tone(`state-${cell.state.toLowerCase()}`)} ${cell.waiting ? 'asks' : ''}`}
              href={addressOf('fleet', cell.agentId)}
              title={cellTitle(cell, text)}
            >
              <span class="name">{cell.agentId}</span>
              <span class="detail">{cellText(cell, now, text)}</span>
            </a>
          )}
        </Grid>
      )}
      <Lately cells={cells} />
    </div>
  );
};

/** The targets of the design: the first four as they were met in the last day, the others since the services started. */
const Targets = () => {
  const { live } = usePage();
  const known = useKnown();
  const { value } = useAnswer(live, ROUTES.targets);
  if (value === null) return null;
  return (
    <dl class="targets" aria-label="Targets">
      {targetsOf(value).map((target) => {
        const figure = figureOf(target, known);
        return (
          <div key={target.name} title={target.of}>
            <dt>{target.name}</dt>
            <dd>
              <span class={figure.tone}>{figure.text}</span>, <span class="dim">{target.aim}</span>
            </dd>
          </div>
        );
      })}
    </dl>
  );
};

const Lately = ({ cells }: { readonly cells: readonly Cell[] }) => {
  const newest = useMemo(() => lately(cells, LATELY), [cells]);
  return (
    <section class="lately" aria-labelledby="lately">
      <h2 id="lately">Changed lately</h2>
      <ol>
        {newest.map(({ agentId, state, since }) => (
          <li key={agentId}>
            <AgentLink id={agentId} /> <StateMark state={state} />{' '}
            <span class="dim">
              <Age at={since} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
};
