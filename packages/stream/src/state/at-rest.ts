/**
 * The upgrade of a state to the next shape. `usual`: the values that the older shape omitted at rest, null if it
 * omitted none.
 */
export type Upgrade = { readonly usual: unknown; readonly to: (state: unknown) => unknown };

/**
 * The stored form of states in the snapshot. The present shape is `oldest` plus the number of upgrades, so that a new
 * shape requires an upgrade. States of a shape below `oldest`, or of a newer one, are refused.
 */
export type AtRest<State> = {
  /** the oldest shape that can be read */
  readonly oldest: number;
  /** from `oldest` to the next shape, from that to the one after, and so on */
  readonly upgrades: readonly Upgrade[];
  /**
   * the values that most states have, which are omitted at rest. Changing them changes the shape. null: none is omitted
   */
  readonly usual: State | null;
};

export const shapeOf = ({ oldest, upgrades }: AtRest<unknown>): number => oldest + upgrades.length;

/**
 * Reads a state from its stored text, in the present shape. `shape`: the shape of the text, from `oldest` to the
 * present one.
 */
export const readAtRest = <State>({ oldest, upgrades, usual }: AtRest<State>, shape: number, text: string): State => {
  const [first, ...others] = upgrades.slice(shape - oldest);
  if (first === undefined) return sparse(usual).read(text) as State;
  const before = sparse(first.usual).read(text);
  return [first, ...others].reduce((state, { to }) => to(state), before) as State;
};

type Fields = Readonly<Record<string, unknown>>;

/** Writes plain values as text, and reads them. */
export type Form = { readonly write: (value: unknown) => string; readonly read: (text: string) => unknown };

/** A field of the usual value. `inner`: its encoding, if the usual value is an object. */
type Field = {
  readonly name: string;
  readonly label: string;
  readonly usual: unknown;
  readonly inner: Form['write'] | null;
};

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * JSON without the fields that have their usual value. Objects with the same fields are traversed. An object with other
 * fields, or a list, is written whole and inside a list, to distinguish it from an object with omitted fields.
 */
export const sparse = (usual: unknown): Form => ({
  write: isFields(usual) ? writing(usual) : JSON.stringify,
  read: (text) => whole(JSON.parse(text), usual),
});

const writing = (usual: Fields): Form['write'] => {
  const fields = Object.entries(usual).map(([name, own]): Field => {
    const inner = isFields(own) ? writing(own) : null;
    return { name, label: `${JSON.stringify(name)}:`, usual: own, inner };
  });
  return (value) => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const text = Array.isArray(value) ? null : differing(value as Fields, fields);
    return text === null ? `[${JSON.stringify(value)}]` : `{${text}}`;
  };
};

/** null if it has other fields than the usual value. */
const differing = (value: Fields, fields: readonly Field[]): string | null => {
  if (Object.keys(value).length !== fields.length) return null;
  let text = '';
  for (const { name, label, usual, inner } of fields) {
    const own = value[name];
    if (own === undefined) return null;
    if (inner === null && alike(own, usual)) continue;
    const written = inner === null ? JSON.stringify(own) : inner(own);
    if (inner === null || written !== '{}') text += `${text === '' ? '' : ','}${label}${written}`;
  }
  return text;
};

const alike = (value: unknown, usual: unknown): boolean =>
  value === usual ||
  (Array.isArray(value) &&
    Array.isArray(usual) &&
    value.length === usual.length &&
    value.every((item, i) => item === usual[i]));

const whole = (value: unknown, usual: unknown): unknown => {
  if (!isFields(usual) || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value[0];
  const full: Record<string, unknown> = {};
  for (const name of Object.keys(usual))
    full[name] = Object.hasOwn(value, name) ? whole((value as Fields)[name], usual[name]) : usual[name];
  return full;
};
