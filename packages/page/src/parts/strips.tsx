import type { Explanation, HistoryRow } from '@vigil/read-model';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import {
  captionOf,
  drawnSignals,
  figureText,
  lineOf,
  replayedLines,
  type Sample,
  storedSamples,
  withSamples,
} from '../model/figures.ts';
import { clockTime } from '../model/time.ts';
import type { Span } from '../model/timeline.ts';
import { Chart } from './chart.tsx';
import { useKnown, usePage } from './context.tsx';
import { EarlierFigures } from './earlier-figures.tsx';

type Samples = ReadonlyMap<string, readonly Sample[]>;

type StripsProps = {
  readonly explanation: Explanation;
  /** the changes of state, newest first */
  readonly states: readonly HistoryRow[];
  readonly span: Span;
  /** the axis of time */
  readonly children: ComponentChildren;
};

/** A strip for each signal that has a figure, over the span of the timeline. Those nearest to their limit come first. */
export const Strips = ({ explanation: { signals, agent }, states, span, children }: StripsProps) => {
  const { now, offsetMinutes } = usePage();
  const known = useKnown();
  const timeText = (at: number) => clockTime(now, at, offsetMinutes);
  const [samples, setSamples] = useState<Samples>(new Map());
  const [readAt, setReadAt] = useState(now);
  const [replayed, setReplayed] = useState<ReturnType<typeof replayedLines>>(new Map());
  useEffect(() => {
    if (signals === null) return;
    const at = Date.now();
    setReadAt(at);
    setSamples((before) => withSamples(before, signals, at));
  }, [signals]);
  const drawn = drawnSignals(signals ?? [], agent);
  if (drawn.length === 0) return null;
  return (
    <section class="strips" aria-label="Signals over the same time">
      {drawn.map((signal) => (
        <figure key={signal.signal} class="strip">
          <div class="lane">
            <span class={`lane-name ${signal.fires && known.isNow ? 'bad' : ''}`}>
              <strong>{figureText(signal.value, signal.isDuration)}</strong>
              {signal.limit !== null && <span>of {figureText(signal.limit, signal.isDuration)}</span>}
            </span>
            <Chart
              line={lineOf(
                signal,
                storedSamples(states, signal.signal),
                samples.get(signal.signal) ?? [],
                readAt,
                replayed.get(signal.signal) ?? [],
              )}
              span={span}
            />
          </div>
          <figcaption>{captionOf(signal, known, timeText)}</figcaption>
        </figure>
      ))}
      {children}
      <p class="dim">The red lines are the limits. Each strip has the time of the timeline.</p>
      <EarlierFigures agentId={agent.agentId} span={span} onRead={(result) => setReplayed(replayedLines(result))} />
    </section>
  );
};
