const NOT_IN_IDS = /[^A-Za-z0-9._:-]/g;
const LONGEST_ID = 128;
const LONGEST_TYPE = 32;
const LONGEST_SHORT = 16;

/** A text as a part of an id that is not its beginning. */
export const asIdPart = (text: string): string => text.replace(NOT_IN_IDS, '-').slice(0, LONGEST_ID);

/** A text as an id of an agent, a task or an instance. What precedes its first letter or digit goes. */
export const asId = (text: string): string => asIdPart(text.replace(/^[^A-Za-z0-9]+/, ''));

/** The agent id of a sub-agent: its parent's, the client's name of its sort, and the beginning of the client's id of it. */
export const subagentId = (parent: string, type: string | null, id: string): string => {
  const suffix = asIdPart(`:${(type ?? 'subagent').slice(0, LONGEST_TYPE)}-${id.slice(0, LONGEST_SHORT)}`);
  return `${parent.slice(0, LONGEST_ID - suffix.length)}${suffix}`;
};
