import { createHash } from 'node:crypto';

/** The roles. Each one includes the rights of the previous ones. */
export const ROLES = ['viewer', 'responder', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** A person or an orchestrator with a token of the dashboard. Times are epoch milliseconds. */
export type Person = {
  readonly name: string;
  readonly role: Role;
  /** hash of the token, in hexadecimal digits; the file does not contain the token */
  readonly sha256: string;
  readonly createdAt: number;
  /** null: the token does not expire */
  readonly expiresAt: number | null;
};

/** The form of a name, which events, tables and logs contain. */
export const PERSON_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

export class InvalidPeopleFile extends Error {
  override readonly name = 'InvalidPeopleFile';
}

export const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex');

export const includesRole = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const personIn = (value: unknown, index: number): Person => {
  const wrong = (field: string, form: string): InvalidPeopleFile =>
    new InvalidPeopleFile(`people[${index}].${field} is wrong: ${form}`);
  const { name, role, sha256, createdAt, expiresAt } = (value ?? {}) as Partial<Record<keyof Person, unknown>>;
  if (typeof name !== 'string' || !PERSON_NAME.test(name)) throw wrong('name', 'write 1 to 64 of A-Z a-z 0-9 . _ @ -');
  const known = ROLES.find((one) => one === role);
  if (known === undefined) throw wrong('role', `write one of ${ROLES.join(', ')}`);
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256))
    throw wrong('sha256', 'write 64 hexadecimal digits');
  if (!isTime(createdAt)) throw wrong('createdAt', 'write epoch milliseconds');
  if (expiresAt !== null && !isTime(expiresAt)) throw wrong('expiresAt', 'write epoch milliseconds, or null');
  return { name, role: known, sha256, createdAt, expiresAt };
};

/** The people in the text of a people file. Throws InvalidPeopleFile. */
export const parsePeople = (text: string): readonly Person[] => {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw new InvalidPeopleFile(`it is not JSON: ${(error as Error).message}`);
  }
  const list = (read as { readonly people?: unknown } | null)?.people;
  if (!Array.isArray(list)) throw new InvalidPeopleFile('write { "people": [ … ] }');
  const people = list.map(personIn);
  const twice = people.find(({ name }, index) => people.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new InvalidPeopleFile(`${twice.name} is there twice: each name has one token`);
  return people;
};

export const peopleText = (people: readonly Person[]): string => `${JSON.stringify({ people }, null, 2)}\n`;
