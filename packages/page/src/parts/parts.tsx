import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Answered } from '../live/live.ts';
import { type Action, isAsked, mayUse } from '../model/commands.ts';
import type { State } from '../model/fleet.ts';
import { oldStateText } from '../model/knowledge.ts';
import { addressOf } from '../model/places.ts';
import { ageText, clockTime } from '../model/time.ts';
import { useKnown, usePage } from './context.tsx';

/** A state in words and colour; while the page is blind, as the earlier state that it is. */
export const StateMark = ({ state }: { readonly state: State }) => {
  const { text, tone } = useKnown();
  return <span class={`state ${tone(`state-${state.toLowerCase()}`)}`}>{text(state)}</span>;
};

/** How long ago, with the time of the day as its title. */
export const Age = ({ at }: { readonly at: number | null }) => {
  const { now, offsetMinutes } = usePage();
  if (at === null) return <span class="dim">-</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={clockTime(now, at, offsetMinutes)}>
      {ageText(now, at)}
    </time>
  );
};

export const Clock = ({ at }: { readonly at: number | null }) => {
  const { now, offsetMinutes } = usePage();
  if (at === null) return <span class="dim">-</span>;
  return <time dateTime={new Date(at).toISOString()}>{clockTime(now, at, offsetMinutes)}</time>;
};

export const AgentLink = ({ id }: { readonly id: string | null }) =>
  id === null ? (
    <span class="dim">-</span>
  ) : (
    <a class="mono" href={addressOf('fleet', id)}>
      {id}
    </a>
  );

export const TaskLink = ({ id }: { readonly id: string | null }) =>
  id === null ? (
    <span class="dim">-</span>
  ) : (
    <a class="mono" href={addressOf('tasks', id)}>
      {id}
    </a>
  );

/** A button that sends one command; nothing for a person whose role does not permit it. */
export const ActionButton = ({ action }: { readonly action: Action }) => {
  const { me, sent, act, blindSince } = usePage();
  const old = oldStateText(blindSince !== null);
  if (!mayUse(me, action)) return null;
  const asked = isAsked(sent, action.key);
  return (
    <button
      type="button"
      class={action.isDangerous ? 'button danger' : 'button'}
      // A disabled button loses the focus of the keyboard.
      aria-disabled={asked}
      title={old ?? undefined}
      onClick={() => {
        if (!asked) act(action);
      }}
    >
      {asked ? `${action.label}: asked` : action.label}
    </button>
  );
};

export const Actions = ({ of }: { readonly of: readonly Action[] }) => (
  <div class="actions">
    {of.map((action) => (
      <ActionButton key={action.key} action={action} />
    ))}
  </div>
);

/** The answer, or that it is not there yet, or why it could not be had. */
export const Loaded = <Answer,>({
  answered: { value, error },
  children,
}: {
  readonly answered: Answered<Answer>;
  readonly children: (value: Answer) => ComponentChildren;
}) => {
  if (value !== null) return <>{children(value)}</>;
  return error === null ? <p class="dim loading">Loading…</p> : <p class="problem">{error}</p>;
};

/** `line`: is not divided; `wide`: takes the rest. On a phone, each cell has its title before it. */
export type Column<Row> = {
  readonly title: string;
  readonly of: (row: Row) => ComponentChildren;
  readonly kind: 'text' | 'line' | 'wide' | 'number' | 'buttons';
};

const FIRST_ROWS = 100;

/** Rows under titles; the first hundred, and more on request. `readOlder`: asks for older rows than these; null: there are none. */
export const Table = <Row,>({
  label,
  columns,
  rows,
  keyOf,
  none,
  readOlder = null,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly none: string;
  readonly readOlder?: (() => void) | null;
}) => {
  const [most, setMost] = useState(FIRST_ROWS);
  if (rows.length === 0) return <p class="none">{none}</p>;
  return (
    <>
      <table class="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th key={title} scope="col" class={kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, of, kind }) => (
                <td key={title} data-title={title} class={kind}>
                  {of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <button type="button" class="button more" onClick={() => setMost(most + 10 * FIRST_ROWS)}>
          {rows.length - most} more
        </button>
      )}
      {readOlder !== null && (
        <p class="dim">
          There are older ones than these {rows.length}.{' '}
          <button
            type="button"
            class="button"
            onClick={() => {
              setMost(most + FIRST_ROWS);
              readOlder();
            }}
          >
            Older ones
          </button>
        </p>
      )}
    </>
  );
};

/** Names and values. */
export const Facts = ({ of }: { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
