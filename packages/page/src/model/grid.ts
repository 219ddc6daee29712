/** Pixels. `top`: how far the grid's own top is above the top of the visible part. */
export type Shape = { readonly width: number; readonly top: number; readonly height: number };

/** Lines that are drawn above and below the visible ones, so that scrolling shows no gap. */
const SPARE_LINES = 4;

/** The top for which cells are drawn: it moves by the spare lines, so that most of a scroll draws no new cell. */
export const drawnTop = (top: number, lineHeight: number): number => {
  const step = SPARE_LINES * lineHeight;
  return Math.floor(top / step) * step;
};

/** Which cells are drawn: from `first` to before `last`. */
export type Window = {
  readonly columns: number;
  readonly lines: number;
  readonly first: number;
  readonly last: number;
};

export const windowOf = (
  { width, top, height }: Shape,
  count: number,
  cellWidth: number,
  lineHeight: number,
): Window => {
  const columns = Math.max(1, Math.floor(width / cellWidth));
  const lines = Math.ceil(count / columns);
  const firstLine = Math.min(Math.max(0, lines - 1), Math.max(0, Math.floor(top / lineHeight) - SPARE_LINES));
  const lastLine = Math.max(firstLine + 1, Math.ceil((top + height) / lineHeight) + SPARE_LINES);
  return { columns, lines, first: firstLine * columns, last: Math.min(count, lastLine * columns) };
};

/** The cell to which a key moves from the cell at `index`; null: the key does not move. */
export const movedIndex = (key: string, index: number, columns: number, count: number): number | null => {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: columns * 10,
    PageUp: -columns * 10,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  return step === undefined ? null : Math.min(count - 1, Math.max(0, index + step));
};
