import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { type FigureLine, figureText, type Sample } from '../model/figures.ts';
import { axisTimes } from '../model/time.ts';
import { usePage } from './context.tsx';

const HEIGHT = 170;

type Values = readonly (number | null)[];

/** The values of samples at these moments; null where there is none. */
const valuesAt = (samples: readonly Sample[], moments: readonly number[]): Values => {
  const known = new Map(samples.map(({ at, value }) => [at, value]));
  return moments.map((at) => known.get(at) ?? null);
};

const dataOf = ({ past, expected, limit }: FigureLine): UPlot.AlignedData => {
  const moments = [...new Set([...past, ...expected].map(({ at }) => at))].sort((a, b) => a - b);
  return [
    moments.map((at) => at / 1000),
    [...valuesAt(past, moments)],
    [...valuesAt(expected, moments)],
    moments.map(() => limit),
  ];
};

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A colour of the style sheet as canvas understands it: `light-dark()` is resolved by an element. */
const resolved = (name: string, host: HTMLElement): string => {
  host.style.color = `var(${name})`;
  const found = getComputedStyle(host).color;
  host.style.color = '';
  return found === '' ? colour(name) : found;
};

const LINE = { spanGaps: true, points: { show: false } };

const optionsOf = (host: HTMLElement, { isDuration }: FigureLine, offsetMinutes: number): UPlot.Options => {
  const [line = '', limit = '', dim = '', grid = ''] = ['--accent', '--danger', '--dim', '--line'].map((name) =>
    resolved(name, host),
  );
  const axis: UPlot.Axis = {
    stroke: dim,
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
    font: '11px sans-serif',
  };
  const times: UPlot.Axis = {
    ...axis,
    size: 28,
    values: (_, splits) =>
      axisTimes(
        splits.map((at) => at * 1000),
        offsetMinutes,
      ),
  };
  const figures: UPlot.Axis = {
    ...axis,
    size: 72,
    values: (_, splits) => splits.map((value) => figureText(value, isDuration)),
  };
  return {
    ...{ width: host.clientWidth, height: HEIGHT, legend: { show: false }, cursor: { show: false } },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [times, figures],
    series: [
      {},
      { ...LINE, stroke: line, width: 2 },
      { ...LINE, stroke: line, width: 1.5, dash: [4, 4] },
      { ...LINE, stroke: limit, width: 1.5 },
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

/** A figure with its limit. The caption beside it has the same in words, so a screen reader skips the drawing. */
export const Chart = ({ line }: { readonly line: FigureLine }) => {
  const { offsetMinutes } = usePage();
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const data = dataOf(line);
  const isDark = useDarkness();
  useEffect(() => {
    const own = host.current;
    if (own === null) return;
    const drawn = new UPlot(optionsOf(own, line, offsetMinutes), data, own);
    chart.current = drawn;
    const sizes = new ResizeObserver(() => drawn.setSize({ width: own.clientWidth, height: HEIGHT }));
    sizes.observe(own);
    return () => {
      sizes.disconnect();
      drawn.destroy();
    };
    // Its colours are those of the scheme in which it is drawn.
  }, [line.isDuration, isDark]);
  useEffect(() => chart.current?.setData(data));
  return <div ref={host} class="chart" aria-hidden="true" />;
};
