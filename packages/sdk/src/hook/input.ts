/** What Claude Code gives a hook on stdin: https://code.claude.com/docs/en/hooks, of which only what is read here is relied on. */
export type HookInput = {
  readonly event: string;
  /** a field, whatever it is */
  readonly field: (name: string) => unknown;
  /** a field that is a text, and not empty */
  readonly text: (name: string) => string | null;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null: it is none. */
export const readInput = (json: string): HookInput | null => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isObject(parsed)) return null;
  const fields = parsed;
  const field = (name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined);
  const text = (name: string): string | null => {
    const value = field(name);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const event = text('hook_event_name');
  return event === null ? null : { event, field, text };
};

/** A field of an object, where it is one. */
export const within = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
