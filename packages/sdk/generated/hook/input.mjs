// Generated from packages/sdk/src/hook/input.ts by `npm run generate`: for Node 18, which reads no TypeScript.
/** What Claude Code gives a hook on stdin: https://code.claude.com/docs/en/hooks, of which only what is read here is relied on. */
const isObject = (value         )                                   =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Null: it is none. */
export const readInput = (json        )                   => {
  let parsed         ;
  try {
    parsed = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isObject(parsed)) return null;
  const fields = parsed;
  const field = (name        )          => (Object.hasOwn(fields, name) ? fields[name] : undefined);
  const text = (name        )                => {
    const value = field(name);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const event = text('hook_event_name');
  return event === null ? null : { event, field, text };
};
/** A field of an object, where it is one. */
export const within = (value         , name        )          => (isObject(value) ? value[name] : undefined);
