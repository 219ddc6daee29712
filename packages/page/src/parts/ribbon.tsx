import { describeEvent } from '@vigil/cli/describe';
import type { Explanation } from '@vigil/read-model';
import { ageText, clockTime, timeOfDay } from '../model/time.ts';
import { LANES, marksOf, placeIn, type Segment, type Span, segmentsOf, spanOf } from '../model/timeline.ts';
import { usePage } from './context.tsx';

const TICKS = 5;

const widthOf = (span: Span, { from, to }: Segment): string => `${placeIn(span, to) - placeIn(span, from)}%`;

/** An agent's states as a ribbon, and what happened to it in lanes below; the table in words follows it. */
export const Ribbon = ({ explanation }: { readonly explanation: Explanation }) => {
  const { now, offsetMinutes } = usePage();
  const span = spanOf(explanation, now);
  const segments = segmentsOf(explanation, span);
  const marks = marksOf(explanation.story, span);
  const ticks = Array.from({ length: TICKS }, (_, i) => span.from + ((span.to - span.from) * i) / (TICKS - 1));
  return (
    <figure class="timeline">
      <div class="lane">
        <span class="lane-name">state</span>
        <div class="ribbon">
          {segments.map((segment) => (
            <div
              key={segment.from}
              class={`segment state-${segment.state.toLowerCase()}`}
              style={{ width: widthOf(span, segment) }}
              title={`${segment.state} from ${clockTime(now, segment.from, offsetMinutes)}${segment.reason === '' ? '' : `: ${segment.reason}`}`}
            />
          ))}
        </div>
      </div>
      {LANES.map((lane) => {
        const own = marks.filter((mark) => mark.lane === lane);
        return (
          <div class="lane" key={lane}>
            <span class="lane-name">{lane}</span>
            <div class="marks">
              {own.map(({ at, type, entry }) => (
                <span
                  key={entry.eventId}
                  class={`mark mark-${lane}`}
                  style={{ left: `${placeIn(span, at)}%` }}
                  title={`${clockTime(now, at, offsetMinutes)} ${describeEvent(type, entry.payload)}`}
                />
              ))}
            </div>
          </div>
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
          ? `${segments[0]?.state} for all of the last ${ageText(now, span.from)}.`
          : `${segments.length - 1} changes of state in the last ${ageText(now, span.from)}; ${segments.at(-1)?.state} since ${clockTime(now, segments.at(-1)?.from ?? now, offsetMinutes)}.`}
      </figcaption>
    </figure>
  );
};
