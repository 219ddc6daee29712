import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { adapters } from '@vigil/adapters';
import type { ScreenMeaning, ScreenView } from '@vigil/adapters/adapter';
import { Emulator, noEmulatorMemory } from './emulator.ts';

export const clientNamed = (name: string) => {
  const client = adapters.find((adapter) => adapter.name === name);
  if (client === undefined) throw new Error(`there is no client ${name}`);
  return client;
};

/**
 * Terminal recordings of the real clients (asciicast 2): `o` is output, `m` names what the screen shows from then on.
 */
const folder = join(import.meta.dirname, '../../../../test/clients/recordings');

type Entry = readonly [seconds: number, kind: 'o' | 'i' | 'm', data: string];

export type Recording = {
  readonly name: string;
  readonly client: string;
  readonly columns: number;
  readonly rows: number;
  readonly entries: readonly Entry[];
};

/** The names of a client's recordings. @throws Error if there is none */
export const castsOf = (client: string): readonly string[] => {
  const own = join(folder, client);
  const casts = existsSync(own) ? readdirSync(own).filter((file) => file.endsWith('.cast')) : [];
  if (casts.length > 0) return casts;
  throw new Error(
    `there is no test/clients/recordings/${client}/*.cast: describe its sessions in test/clients/recordings/make/${client}.ts, list them in make.ts there, and run node test/clients/recordings/make/make.ts ${client}`,
  );
};

export const recordings: readonly Recording[] = adapters.flatMap(({ name: client }) =>
  castsOf(client).map((file): Recording => {
    const [first = '', ...rest] = readFileSync(join(folder, client, file), 'utf8')
      .trimEnd()
      .split('\n');
    const header: { readonly width: number; readonly height: number } = JSON.parse(first);
    const entries = rest.map((line): Entry => JSON.parse(line));
    return { name: `${client}/${file}`, client, columns: header.width, rows: header.height, entries };
  }),
);

/** A moment of a recording: what its screen is, and the situation that stands until a key is pressed; null: not known. */
export type Moment = {
  readonly seconds: number;
  readonly view: ScreenView;
  readonly bracketedPaste: boolean;
  readonly meaning: ScreenMeaning;
  readonly situation: string | null;
  /** the moment is in the recording as a mark, not as output */
  readonly isMark: boolean;
  readonly what: string;
};

/** A key that a person presses, and no paste and no answer of the terminal: it may answer the dialog. */
export const isKey = (input: string): boolean =>
  !input.startsWith('\u001b') || !/^(\[200~|\[[?>IO]|\[\d+;\d+R|[\]P_])/.test(input.slice(1));

const replay = async ({ client, columns, rows, entries }: Recording): Promise<readonly Moment[]> => {
  const emulator = new Emulator({ columns, rows }, noEmulatorMemory);
  const moments: Moment[] = [];
  let [situation, what]: [string | null, string] = [null, ''];
  for (const [seconds, kind, data] of entries) {
    if (kind === 'i') {
      if (isKey(data)) situation = null;
      continue;
    }
    if (kind === 'o') await emulator.write(data);
    else {
      const colon = data.indexOf(': ');
      [situation, what] = [data.slice(0, colon), data.slice(colon + 2)];
    }
    const { view, bracketedPaste } = emulator;
    const meaning = clientNamed(client).screen(view);
    moments.push({ seconds, view, bracketedPaste, meaning, situation, isMark: kind === 'm', what });
  }
  return moments;
};

const replayed = new Map<string, Promise<readonly Moment[]>>();

/** Each moment at which the screen may have changed, in order. */
export const momentsOf = (recording: Recording): Promise<readonly Moment[]> => {
  const moments = replayed.get(recording.name) ?? replay(recording);
  replayed.set(recording.name, moments);
  return moments;
};
