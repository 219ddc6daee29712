import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import type { FigureLine } from '../model/figures.ts';
import type { Span } from '../model/timeline.ts';

const HEIGHT = 52;
/** Room for a point at the edge, outside the span; the style sheet takes it from the margin. Pixels. */
const EDGE = 4;

const dataOf = ({ past, limit }: FigureLine, { from, to }: Span): UPlot.AlignedData => {
  const known = new Map(past.map(({ at, value }) => [at, value]));
  // The limit is drawn over the whole span.
  const moments = [...new Set([from, ...known.keys(), to])].sort((a, b) => a - b);
  return [moments.map((at) => at / 1000), moments.map((at) => known.get(at) ?? null), moments.map(() => limit)];
};

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A colour of the style sheet as canvas understands it: `light-dark()` is resolved by an element. */
const resolved = (name: string, host: HTMLElement): string => {
  host.style.color = `var(${name})`;
  const found = getComputedStyle(host).color;
  host.style.color = '';
  return found === '' ? colour(name) : found;
};

/** It has no axes of its own: its width is the span of the timeline, and its words have the figures. */
const optionsOf = (host: HTMLElement): UPlot.Options => {
  const [line = '', limit = ''] = ['--accent', '--danger'].map((name) => resolved(name, host));
  return {
    ...{ width: host.clientWidth, height: HEIGHT, padding: [3, EDGE, 3, EDGE] },
    ...{ legend: { show: false }, cursor: { show: false } },
    scales: { x: { auto: false }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [{ show: false }, { show: false }],
    series: [
      {},
      { stroke: line, width: 2, points: { size: 5, fill: line } },
      { stroke: limit, width: 1.5, points: { show: false } },
    ],
  };
};

const darkness = matchMedia('(prefers-color-scheme: dark)');

const useDarkness = (): boolean => {
  const [isDark, setIsDark] = useState(darkness.matches);
  useEffect(() => {
    const update = () => setIsDark(darkness.matches);
    darkness.addEventListener('change', update);
    return () => darkness.removeEventListener('change', update);
  }, []);
  return isDark;
};

/** A figure with its limit over a span. The caption beside it has the same in words, so a screen reader skips the drawing. */
export const Chart = ({ line, span }: { readonly line: FigureLine; readonly span: Span }) => {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const isDark = useDarkness();
  const show = (drawn: UPlot): void => {
    drawn.batch(() => {
      drawn.setData(dataOf(line, span), false);
      drawn.setScale('x', { min: span.from / 1000, max: span.to / 1000 });
    });
  };
  useEffect(() => {
    const own = host.current;
    if (own === null) return;
    const drawn = new UPlot(optionsOf(own), dataOf(line, span), own);
    chart.current = drawn;
    const sizes = new ResizeObserver(() => drawn.setSize({ width: own.clientWidth, height: HEIGHT }));
    sizes.observe(own);
    return () => {
      sizes.disconnect();
      drawn.destroy();
    };
    // Its colours are those of the scheme in which it is drawn.
  }, [isDark]);
  useEffect(() => {
    if (chart.current !== null) show(chart.current);
  });
  return <div ref={host} class="chart" aria-hidden="true" />;
};
