/** The dashboard's API with the token of one person, who has a role there. Throws ApiRefusal. */
export type Api = {
  readonly get: <T>(path: string, query?: Readonly<Record<string, string>>) => Promise<T>;
  /** writes a command, and returns the id of its event */
  readonly command: (command: object) => Promise<string>;
};

/** The dashboard refuses: the message has the reason and the remedy. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
}

export const path = (...parts: readonly string[]): string => `/v1/${parts.map(encodeURIComponent).join('/')}`;

/** Commands of tools are signed with this name, beside that of the token. */
const BY = 'mcp';

export const commandOf = (kind: string, fields: object, why: string): object => ({ kind, ...fields, by: BY, why });
