import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refused } from '@vigil/chassis';
import { hashOfToken, type Person, parsePeople, type Role } from '@vigil/read-model/people';

/** Whose token a request shows. */
export type Caller = Pick<Person, 'name' | 'role'>;

/** The bearer of VIGIL_DASHBOARD_TOKEN. */
const ADMIN: Caller = { name: 'admin', role: 'admin' };
/** A change of the file holds within this time, milliseconds. */
const LOOK_EVERY_MS = 1000;

export type PeopleDeps = {
  /** of VIGIL_DASHBOARD_TOKEN */
  readonly token: string;
  /** null: only the admin has a token */
  readonly file: string | null;
  /** epoch milliseconds */
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
};

/** `callerOfHash`: the bearer of the token with this hash; null: it is unknown or has expired. */
export type People = { readonly callerOfHash: (hash: string) => Caller | null };

/** The name of the bearer of VIGIL_DASHBOARD_TOKEN belongs to no person. */
const withoutAdmin = (people: readonly Person[]): readonly Person[] => {
  if (people.some(({ name }) => name === ADMIN.name))
    throw new Error(`${ADMIN.name} is the name of the bearer of VIGIL_DASHBOARD_TOKEN: give the person another`);
  return people;
};

const OTHERS_MAY_WRITE = 0o022;
/** Where others may write, they may still replace only their own files. */
const STICKY = 0o1000;

/** Throws Refused if another user could change or replace the file, and so make himself an admin. */
const checkOwned = (file: string): void => {
  const real = realpathSync(file);
  const folder = dirname(real);
  for (const path of [real, folder]) {
    const { mode, uid } = statSync(path);
    if (uid !== 0 && uid !== process.getuid?.())
      throw new Refused(
        `${path} belongs to user ${uid}, who may change ${file}: give it to root or to the dashboard's user`,
      );
    if ((mode & OTHERS_MAY_WRITE) !== 0 && (path === real || (mode & STICKY) === 0))
      throw new Refused(`${path} may be changed by others: chmod go-w ${path}`);
  }
};

const readFile = (file: string): readonly Person[] => {
  checkOwned(file);
  try {
    return withoutAdmin(parsePeople(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Refused(`${file}: ${(error as Error).message}`, { cause: error });
  }
};

const versionOf = (file: string): string => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new Refused(`${file} does not exist: \`vigil token create person\` creates it, see VIGIL_PEOPLE_FILE`);
  return `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
};

/**
 * The bearers of tokens. Reads the people file again when it changes. A file that cannot be read later keeps the people of before, and is
 * reported each time. Throws Refused if it cannot be read at the start.
 */
export const openPeople = ({ token, file, now, onFailure }: PeopleDeps): People => {
  const adminHash = hashOfToken(token);
  let version = '';
  let byHash: ReadonlyMap<string, Person> = new Map();
  let lookedAt = now();

  const read = (path: string, found: string): void => {
    byHash = new Map(readFile(path).map((person) => [person.sha256, person]));
    version = found;
  };

  const refresh = (path: string): void => {
    lookedAt = now();
    try {
      const found = versionOf(path);
      if (found !== version) read(path, found);
    } catch (error) {
      onFailure(error);
    }
  };

  if (file !== null) read(file, versionOf(file));
  return {
    callerOfHash: (hash) => {
      if (hash === adminHash) return ADMIN;
      if (file !== null && now() >= lookedAt + LOOK_EVERY_MS) refresh(file);
      const person = byHash.get(hash);
      return person === undefined || (person.expiresAt !== null && person.expiresAt <= now()) ? null : person;
    },
  };
};

/** The name that events have as `by`: the token's, and the one that the caller gives beside it. */
export const signed = ({ name }: Pick<Caller, 'name'>, claimed: string): string => {
  const given = claimed.replace(/[()\p{Cc}\p{Cf}]/gu, '').trim();
  return given === name || given === '' ? name : `${name} (${given})`;
};

/** What a role is needed for, in a refusal. */
export const needs = ({ name, role }: Caller, needed: Role, what: string): string =>
  `${name} has the role ${role}: ${what} needs the role ${needed}. An admin changes it with \`vigil token create person ${name} --role ${needed}\`.`;
