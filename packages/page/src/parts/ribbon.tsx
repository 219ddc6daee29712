import { spell } from '@vigil/policy';
import type { Explanation, HistoryRow } from '@vigil/read-model';
import type { ComponentChildren } from 'preact';
import { type HistoryAnswer, ROUTES } from '../live/routes.ts';
import { activityOf, activityText, type Call, counted, type Deed, deedsOf } from '../model/activity.ts';
import { orDash, readable } from '../model/text.ts';
import { ageText, axisTimes, clockTime } from '../model/time.ts';
import {
  type ChangeLine,
  changeLines,
  changesOf,
  figuresOf,
  LANES,
  marksOf,
  placeIn,
  type Segment,
  type Span,
  segmentsOf,
  spanOf,
} from '../model/timeline.ts';
import { useAnswer, useKnown, usePage } from './context.tsx';
import { Clock, StateMark, Table } from './parts.tsx';
import { Strips } from './strips.tsx';

const TICKS = 5;
const IN_FLIGHT: Call['outcome'] = 'in flight';

/** The axis of time, below the lanes and again below the strips. */
const Times = ({ span: { from, to } }: { readonly span: Span }) => {
  const { offsetMinutes } = usePage();
  const moments = Array.from({ length: TICKS }, (_, i) => from + ((to - from) * i) / (TICKS - 1));
  return (
    <div class="lane" aria-hidden="true">
      <span class="lane-name" />
      <div class="ticks">
        {axisTimes(moments, offsetMinutes).map((text, i) => (
          <span key={moments[i]}>{text}</span>
        ))}
      </div>
    </div>
  );
};

const NO_HISTORY: HistoryAnswer = { history: [], next: null };

const useHistory = (agentId: string, kind: HistoryRow['kind']): HistoryAnswer => {
  const { live } = usePage();
  return useAnswer(live, ROUTES.history(agentId, kind)).value ?? NO_HISTORY;
};

const Lane = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div class="lane">
    <span class="lane-name">{name}</span>
    <div class="marks">{children}</div>
  </div>
);

const widthOf = (span: Span, { from, to }: Segment): string => `${placeIn(span, to) - placeIn(span, from)}%`;

/** The same in words. */
const Words = ({ changes, deeds }: { readonly changes: readonly ChangeLine[]; readonly deeds: readonly Deed[] }) => {
  const { text } = useKnown();
  return (
    <>
      <details open>
        <summary>{counted(changes.length, 'change')} of state, each with the figures that fired</summary>
        <Table
          label="Changes of state"
          rows={changes}
          keyOf={({ id }) => id}
          none="Its state has not changed."
          columns={[
            { title: 'Time', kind: 'line', of: ({ occurredAt }) => <Clock at={occurredAt} /> },
            { title: 'From', kind: 'text', of: ({ stateFrom }) => readable(stateFrom) },
            { title: 'To', kind: 'text', of: ({ stateTo }) => <StateMark state={stateTo} /> },
            { title: 'Figure and limit', kind: 'wide', of: ({ words }) => words.map((one) => <p key={one}>{one}</p>) },
          ]}
        />
      </details>
      <details>
        <summary>Calls and compactions ({deeds.length})</summary>
        <Table
          label="Calls and compactions"
          rows={deeds}
          keyOf={({ id }) => id}
          none="Nothing is reported."
          columns={[
            { title: 'Time', kind: 'line', of: ({ at }) => <Clock at={at} /> },
            { title: 'What', kind: 'wide', of: ({ what }) => what },
            {
              title: 'Outcome',
              kind: 'text',
              of: ({ outcome }) => orDash(outcome === IN_FLIGHT ? text(outcome) : outcome),
            },
            { title: 'Took', kind: 'number', of: ({ tookMs }) => (tookMs === null ? '-' : spell(tookMs)) },
          ]}
        />
      </details>
    </>
  );
};

/** `at`: a moment that is marked; null: none. */
type RibbonProps = { readonly explanation: Explanation; readonly at: number | null };

/** An agent's states as a ribbon, what happened to it in lanes below, and the figures of its signals; tables in words follow. */
export const Ribbon = ({ explanation, at }: RibbonProps) => {
  const { now, offsetMinutes } = usePage();
  const { until, text, sinceText } = useKnown();
  const timeText = (moment: number) => clockTime(now, moment, offsetMinutes);
  const { agent } = explanation;
  const states = useHistory(agent.agentId, 'state').history;
  const calls = useHistory(agent.agentId, 'call');
  const compactions = useHistory(agent.agentId, 'compaction').history;
  const activity = activityOf([...calls.history, ...compactions], calls.next === null, agent);
  const stored = changesOf(states);
  // Both begin with the newest change. Only the history reaches far back.
  const isNewest = stored[0]?.occurredAt === explanation.transitions[0]?.occurredAt;
  const known = { ...explanation, transitions: isNewest ? stored : explanation.transitions };
  const span = spanOf(known, now);
  const segments = segmentsOf(known, span, until);
  const last = segments.at(-1);
  const present = sinceText(last?.state ?? agent.state, last?.from ?? now, timeText);
  const figures = figuresOf(states, span);
  const marks = marksOf(known, span);
  return (
    <>
      <figure class="timeline">
        <div class="lane">
          <span class="lane-name">state</span>
          <div class="ribbon">
            {segments.map((segment, index) => (
              <div
                key={segment.from}
                class={`segment state-${segment.state.toLowerCase()}`}
                style={{
                  width: widthOf(span, segment),
                  marginLeft: index === 0 ? `${placeIn(span, segment.from)}%` : 0,
                }}
                title={`${segment === last ? text(segment.state) : segment.state} from ${clockTime(now, segment.from, offsetMinutes)}${segment.reason === '' ? '' : `: ${segment.reason}`}`}
              />
            ))}
          </div>
        </div>
        <Lane name="signals">
          {figures.map(({ id, at, words }) => (
            <span
              key={id}
              class="mark mark-signals"
              style={{ left: `${placeIn(span, at)}%` }}
              title={`${clockTime(now, at, offsetMinutes)} ${words.join('; ')}`}
            />
          ))}
        </Lane>
        <Lane name="calls">
          {activity.calls
            .filter(({ to }) => to === null || to >= span.from)
            .map(({ id, tool, from, to, outcome }) => (
              <span
                key={id}
                class={`call call-${outcome.replace(' ', '-')}`}
                style={{
                  left: `${placeIn(span, from)}%`,
                  width: `${placeIn(span, Math.max(from, to ?? until)) - placeIn(span, from)}%`,
                }}
                title={`${tool}, ${to === null ? text(outcome) : outcome}, from ${timeText(from)} for ${ageText(to ?? until, from)}`}
              />
            ))}
        </Lane>
        <Lane name="compactions">
          {activity.compactions
            .filter((at) => at >= span.from)
            .map((at) => (
              <span
                key={at}
                class="mark mark-compactions"
                style={{ left: `${placeIn(span, at)}%` }}
                title={`${clockTime(now, at, offsetMinutes)} its context became smaller`}
              />
            ))}
        </Lane>
        {LANES.map((lane) => {
          const own = marks.filter((mark) => mark.lane === lane);
          return (
            <Lane key={lane} name={lane}>
              {own.map(({ at, key, words }) => (
                <span
                  key={key}
                  class={`mark mark-${lane}`}
                  style={{ left: `${placeIn(span, at)}%` }}
                  title={`${clockTime(now, at, offsetMinutes)} ${words}`}
                />
              ))}
            </Lane>
          );
        })}
        {at !== null && (
          <Lane name="replay">
            <span
              class="mark mark-replay"
              style={{ left: `${placeIn(span, at)}%` }}
              title={clockTime(now, at, offsetMinutes)}
            />
          </Lane>
        )}
        <Times span={span} />
        <figcaption>
          {at !== null && `The replay differs at ${clockTime(now, at, offsetMinutes)}. `}
          {segments.length === 1
            ? `${present}.`
            : `${counted(segments.length - 1, 'change')} of state in the last ${ageText(now, span.from)}; ${present}.`}{' '}
          {activityText(activity, span.from)}
        </figcaption>
      </figure>
      <Strips explanation={explanation} states={states} span={span}>
        <Times span={span} />
      </Strips>
      <Words changes={changeLines(states)} deeds={deedsOf(activity, compactions)} />
    </>
  );
};
