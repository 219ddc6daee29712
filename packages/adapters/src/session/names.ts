const NOT_IN_IDS = /[^A-Za-z0-9._:-]/g;
const LONGEST_ID = 128;
const LONGEST_TYPE = 32;
const LONGEST_SHORT = 16;

/** Converts a text to a part of an id after its beginning. */
export const asIdPart = (text: string): string => text.replace(NOT_IN_IDS, '-').slice(0, LONGEST_ID);

/**
 * Converts a text to the id of an agent, a task or an instance. Removes everything before its first letter or digit.
 */
export const asId = (text: string): string => asIdPart(text.replace(/^[^A-Za-z0-9]+/, ''));

/**
 * The agent id of a sub-agent: the parent's id, the client's name of its type, and the beginning of the client's id.
 */
export const subagentId = (parent: string, type: string | null, id: string): string => {
  const suffix = asIdPart(`:${(type ?? 'subagent').slice(0, LONGEST_TYPE)}-${id.slice(0, LONGEST_SHORT)}`);
  return `${parent.slice(0, LONGEST_ID - suffix.length)}${suffix}`;
};
