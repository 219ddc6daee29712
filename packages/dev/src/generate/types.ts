import type { AvroField, AvroType, TopicFolder } from './schemas.ts';

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  long: 'number',
  int: 'number',
  double: 'number',
  boolean: 'boolean',
  bytes: 'Buffer',
  null: 'null',
};

/** Collects the named types of all schemas; the same name must always mean the same type. */
class Declarations {
  private readonly texts = new Map<string, string>();
  readonly enums = new Map<string, readonly string[]>();

  declare(name: string, text: string, from: string): void {
    const known = this.texts.get(name);
    if (known !== undefined && known !== text) throw new Error(`${from}: ${name} is declared differently elsewhere`);
    this.texts.set(name, text);
  }

  typeOf(type: AvroType, from: string): string {
    if (typeof type === 'string') return PRIMITIVES[type] ?? type;
    if (Array.isArray(type)) return type.map((member) => this.typeOf(member, from)).join(' | ');
    const named = type as Exclude<AvroType, string | readonly AvroType[]>;
    switch (named.type) {
      case 'long':
        return 'number';
      case 'map':
        return `Readonly<Record<string, ${this.typeOf(named.values, from)}>>`;
      case 'array': {
        const items = this.typeOf(named.items, from);
        return `readonly ${items.includes(' ') ? `(${items})` : items}[]`;
      }
      case 'enum':
        this.enums.set(named.name, named.symbols);
        this.declare(named.name, named.symbols.map((symbol) => `'${symbol}'`).join(' | '), from);
        return named.name;
      case 'record':
        this.declare(named.name, this.record(named.fields, from), from);
        return named.name;
    }
  }

  record(fields: readonly AvroField[], from: string): string {
    const lines = fields.flatMap((field) => [
      ...(field.doc === undefined ? [] : [`  /** ${field.doc} */`]),
      `  readonly ${field.name}: ${this.typeOf(field.type, from)};`,
    ]);
    return `{\n${lines.join('\n')}\n}`;
  }

  render(): string[] {
    return [...this.texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => `export type ${name} = ${text};`);
  }
}

const declare = (topics: readonly TopicFolder[]) => {
  const declarations = new Declarations();
  const entries = topics.flatMap((topic) =>
    topic.events.map((event) => {
      const payload = topic.envelope ? event.fields.find((field) => field.name === 'payload') : undefined;
      if (topic.envelope && payload === undefined) throw new Error(`${event.file}: no field "payload"`);
      for (const field of topic.envelope ? event.fields : []) declarations.typeOf(field.type, event.file);
      const flat: AvroType = { type: 'record', name: event.record, fields: event.fields };
      const type = declarations.typeOf(payload?.type ?? flat, event.file);
      return `  /** ${event.doc} */\n  | { readonly topic: '${topic.name}'; readonly type: '${event.type}'; readonly payload: ${type} }`;
    }),
  );
  return { declarations, entries };
};

/** The symbols of every enum as data. */
export const renderSymbols = (topics: readonly TopicFolder[]): string => {
  const { enums } = declare(topics).declarations;
  const sorted = [...enums].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '// Generated from schemas/ by `npm run generate`. Do not edit.',
    '',
    '/** The values of each enumeration of the events. */',
    'export const SYMBOLS = {',
    ...sorted.map(([name, symbols]) => `  ${name}: [${symbols.map((symbol) => `'${symbol}'`).join(', ')}],`),
    '} as const;',
    '',
  ].join('\n');
};

/** The TypeScript of every event: payload types, and one member of the union HealthEvent for each topic and type. */
export const renderTypes = (topics: readonly TopicFolder[]): string => {
  const { declarations, entries } = declare(topics);
  return [
    '// Generated from schemas/ by `npm run generate`. Do not edit.',
    '',
    ...declarations.render(),
    '',
    '/** Every event and command: its topic, its name, its payload. */',
    'export type Content =',
    ...entries,
    ';',
    '',
  ].join('\n');
};
