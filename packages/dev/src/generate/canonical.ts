const IGNORED: ReadonlySet<string> = new Set(['doc', 'vigil']);

/** A schema without what does not change its bytes (texts, our attribute), keys sorted. */
export const canonical = (schema: unknown): string =>
  JSON.stringify(schema, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([key]) => !IGNORED.has(key))
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : value,
  );
