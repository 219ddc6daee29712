import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { drawnTop, movedIndex, type Shape, windowOf } from '../model/grid.ts';

type GridProps<Row> = {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** the least width of a cell and the height of a line, pixels */
  readonly cellWidth: number;
  readonly lineHeight: number;
  /** whether the cells are to take the focus, asked when they are drawn */
  readonly takesFocus: () => boolean;
  readonly children: (
    row: Row,
    focus: { readonly tabIndex: number; readonly 'data-index': number },
  ) => ComponentChildren;
};

const isSame = (one: Shape, other: Shape): boolean =>
  one.width === other.width && one.top === other.top && one.height === other.height;

/** The element that scrolls the view. */
const scroller = (): HTMLElement | null => document.getElementById('view');

/** The one cell that the keyboard reaches; null: none is drawn. */
export const reachableCell = (): HTMLElement | null => document.querySelector<HTMLElement>('.grid [tabindex="0"]');

/** Cells in lines. Only the visible ones are in the document. Arrow keys move between the cells. */
export const Grid = <Row,>({ label, rows, keyOf, cellWidth, lineHeight, takesFocus, children }: GridProps<Row>) => {
  const box = useRef<HTMLDivElement>(null);
  const [shape, setShape] = useState<Shape>({ width: 0, top: 0, height: 0 });
  const [active, setActive] = useState(0);
  const isMoving = useRef(false);

  useLayoutEffect(() => {
    const view = scroller();
    const own = box.current;
    if (view === null || own === null) return;
    const measure = (): void => {
      const top = view.getBoundingClientRect().top - own.getBoundingClientRect().top;
      const next = { width: own.clientWidth, top: drawnTop(top, lineHeight), height: view.clientHeight };
      setShape((before) => (isSame(before, next) ? before : next));
    };
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(own);
    sizes.observe(view);
    view.addEventListener('scroll', measure, { passive: true });
    return () => {
      sizes.disconnect();
      view.removeEventListener('scroll', measure);
    };
  }, [lineHeight]);

  const { columns, lines, first, last } = windowOf(shape, rows.length, cellWidth, lineHeight);

  useLayoutEffect(() => {
    const cell = reachableCell();
    // A person may be in a field by now.
    const isFree = document.activeElement === document.body || document.activeElement === scroller();
    if (cell !== null && takesFocus() && isFree) cell.focus();
  });

  useLayoutEffect(() => {
    if (!isMoving.current) return;
    // A far cell is drawn only after the grid has scrolled.
    const cell = box.current?.querySelector<HTMLElement>(`[data-index="${active}"]`);
    if (!cell) return;
    isMoving.current = false;
    cell.focus({ preventScroll: true });
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const at = Number((event.target as HTMLElement).dataset.index ?? Number.NaN);
    const next = Number.isNaN(at) ? null : movedIndex(event.key, at, columns, rows.length);
    const view = scroller();
    if (next === null || view === null || box.current === null) return;
    event.preventDefault();
    const start = view.scrollTop + box.current.getBoundingClientRect().top - view.getBoundingClientRect().top;
    const line = start + Math.floor(next / columns) * lineHeight;
    if (line < view.scrollTop) view.scrollTop = line;
    if (line + lineHeight > view.scrollTop + view.clientHeight) view.scrollTop = line + lineHeight - view.clientHeight;
    isMoving.current = true;
    setActive(next);
  };

  const start = Math.min(active, Math.max(0, rows.length - 1));
  const reachable = start >= first && start < last ? start : first;
  /** The cells that scrolling does not change: the same element is not compared again. */
  const drawn = useMemo(() => new Map<number, ComponentChildren>(), [rows, children]);
  const cellAt = (index: number, row: Row): ComponentChildren => {
    const isReachable = index === reachable;
    const known = isReachable ? undefined : drawn.get(index);
    if (known !== undefined) return known;
    const cell = <li key={keyOf(row)}>{children(row, { tabIndex: isReachable ? 0 : -1, 'data-index': index })}</li>;
    if (!isReachable) drawn.set(index, cell);
    return cell;
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its cells are links, and the arrow keys move between them
    <div ref={box} class="grid" style={{ height: `${lines * lineHeight}px` }} onKeyDown={onKeyDown}>
      <ul
        class="grid-lines"
        aria-label={label}
        style={{
          transform: `translateY(${Math.floor(first / Math.max(1, columns)) * lineHeight}px)`,
          gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
          gridAutoRows: `${lineHeight}px`,
        }}
      >
        {rows.slice(first, last).map((row, offset) => cellAt(first + offset, row))}
      </ul>
    </div>
  );
};
