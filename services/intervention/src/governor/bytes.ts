const measured = new WeakMap<object, number>();

/** The bytes of a value as JSON. Values never change, so each is measured once. */
export const bytesOf = (value: object): number => {
  const known = measured.get(value);
  if (known !== undefined) return known;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  measured.set(value, bytes);
  return bytes;
};

const summed = new WeakMap<readonly object[], number>();

/** The bytes of all of them, with a comma each. */
export const bytesOfAll = (values: readonly object[]): number => {
  const known = summed.get(values);
  if (known !== undefined) return known;
  const bytes = values.reduce((sum, value) => sum + bytesOf(value) + 1, 0);
  summed.set(values, bytes);
  return bytes;
};

/** The list itself if `change` changes none of its values, so that it is not measured again. */
export const changedIn = <Value extends object>(
  values: readonly Value[],
  change: (value: Value) => Value,
): readonly Value[] => {
  const changed = values.map(change);
  return changed.some((value, i) => value !== values[i]) ? changed : values;
};
