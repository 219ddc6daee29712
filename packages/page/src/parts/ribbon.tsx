import type { Explanation } from '@vigil/read-model';
import type { ComponentChildren } from 'preact';
import { type HistoryAnswer, ROUTES } from '../live/routes.ts';
import { activityOf, activityText, counted } from '../model/activity.ts';
import { ageText, clockTime, timeOfDay } from '../model/time.ts';
import {
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
import { useAnswer, usePage } from './context.tsx';

const TICKS = 5;

const NO_HISTORY: HistoryAnswer = { history: [], next: null };

const Lane = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div class="lane">
    <span class="lane-name">{name}</span>
    <div class="marks">{children}</div>
  </div>
);

const widthOf = (span: Span, { from, to }: Segment): string => `${placeIn(span, to) - placeIn(span, from)}%`;

/** An agent's states as a ribbon, and what happened to it in lanes below; the table in words follows it. */
export const Ribbon = ({ explanation }: { readonly explanation: Explanation }) => {
  const { live, now, offsetMinutes } = usePage();
  const { agent } = explanation;
  const { history, next } = useAnswer(live, ROUTES.history(agent.agentId)).value ?? NO_HISTORY;
  const activity = activityOf(history, next === null, agent);
  const stored = changesOf(history);
  // Both begin with the newest change. Only the history reaches far back.
  const isNewest = stored[0]?.occurredAt === explanation.transitions[0]?.occurredAt;
  const known = { ...explanation, transitions: isNewest ? stored : explanation.transitions };
  const span = spanOf(known, now);
  const segments = segmentsOf(known, span);
  const figures = figuresOf(history, span);
  const marks = marksOf(known, span);
  const ticks = Array.from({ length: TICKS }, (_, i) => span.from + ((span.to - span.from) * i) / (TICKS - 1));
  return (
    <figure class="timeline">
      <div class="lane">
        <span class="lane-name">state</span>
        <div class="ribbon">
          {segments.map((segment, index) => (
            <div
              key={segment.from}
              class={`segment state-${segment.state.toLowerCase()}`}
              style={{ width: widthOf(span, segment), marginLeft: index === 0 ? `${placeIn(span, segment.from)}%` : 0 }}
              title={`${segment.state} from ${clockTime(now, segment.from, offsetMinutes)}${segment.reason === '' ? '' : `: ${segment.reason}`}`}
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
              style={{ left: `${placeIn(span, from)}%`, width: `${placeIn(span, to ?? now) - placeIn(span, from)}%` }}
              title={`${tool}, ${outcome}, from ${clockTime(now, from, offsetMinutes)} for ${ageText(to ?? now, from)}`}
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
      <div class="lane">
        <span class="lane-name" />
        <div class="ticks">
          {ticks.map((at) => (
            <span key={at}>{timeOfDay(at, offsetMinutes)}</span>
          ))}
        </div>
      </div>
      <figcaption>
        {segments.length === 1
          ? `${segments[0]?.state} since ${clockTime(now, segments[0]?.from ?? now, offsetMinutes)}.`
          : `${counted(segments.length - 1, 'change')} of state in the last ${ageText(now, span.from)}; ${segments.at(-1)?.state} since ${clockTime(now, segments.at(-1)?.from ?? now, offsetMinutes)}.`}{' '}
        {activityText(activity, span.from)}
      </figcaption>
    </figure>
  );
};
