/** A field of a recorded payload by its path; undefined without one. */
export const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (so, name) => (typeof so === 'object' && so !== null ? (so as Record<string, unknown>)[name] : undefined),
    value,
  );

export const textAt = (value: unknown, ...names: readonly string[]): string | null => {
  const found = at(value, ...names);
  return typeof found === 'string' ? found : null;
};
