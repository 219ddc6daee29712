import avro from 'avsc';

/** What avsc reads from; its own type is not exported. */
type Tap = {
  readonly buf: Buffer;
  readonly pos: number;
  readonly readLong: () => number;
  readonly skipLong: () => void;
  readonly readString: () => string;
};
type Reads = { _read?: (this: { itemsType: Reads; valuesType: Reads }, tap: Tap) => unknown };

/** The number of the next items. Each has at least a byte, so a number above the rest of the record is not one. */
const nextCount = (tap: Tap): number => {
  const count = tap.readLong();
  // A negative number is followed by the size of the block.
  if (count < 0) tap.skipLong();
  if (Math.abs(count) > tap.buf.length - tap.pos)
    throw new Error(`${Math.abs(count)} items do not fit the ${tap.buf.length - tap.pos} bytes that follow`);
  return Math.abs(count);
};

/** avsc believes the number of items: a record of a few hundred bytes would occupy it for minutes, or take all memory. */
export const boundBlocks = (): void => {
  const array: Reads = avro.types.ArrayType.prototype as Reads;
  array._read = function (tap) {
    const items: unknown[] = [];
    for (let count = nextCount(tap); count > 0; count = nextCount(tap))
      for (; count > 0; count -= 1) items.push(this.itemsType._read?.call(this.itemsType as never, tap));
    return items;
  };
  const map: Reads = avro.types.MapType.prototype as Reads;
  map._read = function (tap) {
    const values: Record<string, unknown> = {};
    for (let count = nextCount(tap); count > 0; count = nextCount(tap))
      for (; count > 0; count -= 1) {
        const key = tap.readString();
        values[key] = this.valuesType._read?.call(this.valuesType as never, tap);
      }
    return values;
  };
};
