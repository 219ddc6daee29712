import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  hashOfToken,
  PERSON_NAME,
  type Person,
  parsePeople,
  peopleText,
  ROLES,
  type Role,
} from '@vigil/read-model/people';
import { CannotProceed, Refusal } from '../../errors.ts';
import { replaceFile } from '../../replace-file.ts';

export type PeopleOptions = { readonly peopleFile?: string };

/** The people file of an option, else of VIGIL_PEOPLE_FILE. Throws CannotProceed. */
const fileOf = ({ peopleFile }: PeopleOptions): string => {
  const file = peopleFile ?? process.env.VIGIL_PEOPLE_FILE;
  if (!file)
    throw new CannotProceed(
      'VIGIL_PEOPLE_FILE is not set: give the file that the dashboard reads, or use --people-file.',
    );
  return file;
};

const read = (file: string): readonly Person[] => {
  try {
    return existsSync(file) ? parsePeople(readFileSync(file, 'utf8')) : [];
  } catch (error) {
    throw new Refusal(`${file} is not changed: ${(error as Error).message}`);
  }
};

/** Only its owner may read a new file. */
const write = (file: string, people: readonly Person[]): void => {
  if (!existsSync(file)) writeFileSync(file, peopleText([]), { mode: 0o600, flag: 'wx' });
  replaceFile(file, peopleText(people));
};

type Creation = PeopleOptions & { readonly role?: string; readonly valid: number };

const roleOf = (text: string | undefined): Role => {
  const role = ROLES.find((one) => one === text);
  if (role === undefined)
    throw new CannotProceed(
      `--role is ${text === undefined ? 'missing' : JSON.stringify(text)}: give one of ${ROLES.join(', ')}.`,
    );
  return role;
};

/** Writes a person's name, role and token hash into the people file, in place of an earlier token of that name. Returns the token. */
export const createPerson = (name: string, { role, valid, ...options }: Creation): string => {
  if (!PERSON_NAME.test(name))
    throw new CannotProceed(`The name is ${JSON.stringify(name)}: give 1 to 64 of A-Z a-z 0-9 . _ @ -.`);
  if (name === 'admin') throw new CannotProceed('admin is the bearer of VIGIL_DASHBOARD_TOKEN: give another name.');
  const file = fileOf(options);
  const token = randomBytes(32).toString('base64url');
  const now = Date.now();
  const person: Person = {
    name,
    role: roleOf(role),
    sha256: hashOfToken(token),
    createdAt: now,
    expiresAt: now + valid,
  };
  write(file, [...read(file).filter((one) => one.name !== name), person]);
  return token;
};

export const listPeople = (options: PeopleOptions): readonly Person[] => read(fileOf(options));

/** Throws Refusal if the file has no such person. */
export const revokePerson = (name: string, options: PeopleOptions): void => {
  const file = fileOf(options);
  const people = read(file);
  if (!people.some((one) => one.name === name))
    throw new Refusal(`${file} has no person ${JSON.stringify(name)}: \`vigil token list --people\` names them.`);
  write(
    file,
    people.filter((one) => one.name !== name),
  );
};
