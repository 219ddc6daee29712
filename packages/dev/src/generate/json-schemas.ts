import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';

/** JSON Schema as OpenAPI 3.1 uses it. */
export type JsonSchema = { readonly [key: string]: unknown };

/** A node of the parser. Only the fields that are read here have a type. */
type Node = {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
};
type Comment = { readonly value: string; readonly end: number };
type Source = { readonly text: string; readonly comments: readonly Comment[] };

/** A type and what is needed to read it. */
type Declared = { readonly node: Node; readonly source: Source };
type Declarations = {
  readonly types: ReadonlyMap<string, Declared>;
  /** objects of `column<…>()`, by the name of their constant and its file */
  readonly columns: ReadonlyMap<Source, ReadonlyMap<string, Node>>;
};

const node = (value: unknown): Node => value as Node;
const nodes = (value: unknown): readonly Node[] => (value ?? []) as readonly Node[];
const nameIn = (value: unknown): string => String(node(value).name ?? node(value).value);

const declarationsOf = (files: readonly string[]): Declarations => {
  const types = new Map<string, Declared>();
  const columns = new Map<Source, Map<string, Node>>();
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const { program, comments } = parseSync(file, text);
    const source: Source = { text, comments: comments as readonly Comment[] };
    const objects = new Map<string, Node>();
    columns.set(source, objects);
    for (const statement of program.body as unknown as readonly Node[]) {
      const declared =
        statement.type === 'ExportNamedDeclaration' ? node(statement.declaration ?? statement) : statement;
      if (declared.type === 'TSTypeAliasDeclaration')
        types.set(nameIn(declared.id), { node: node(declared.typeAnnotation), source });
      if (declared.type !== 'VariableDeclaration') continue;
      for (const { id, init } of nodes(declared.declarations))
        if (init !== null && node(init).type === 'ObjectExpression') objects.set(nameIn(id), node(init));
    }
  }
  return { types, columns };
};

/** The doc comment that ends directly before a node. */
const commentBefore = ({ text, comments }: Source, { start }: Node): JsonSchema => {
  const comment = comments.find(({ end }) => end <= start && /^\s*$/.test(text.slice(end, start)));
  if (comment === undefined || !comment.value.startsWith('*')) return {};
  const words = comment.value.replaceAll(/^\s*\*+ ?/gm, ' ').replaceAll(/\s+/g, ' ');
  return { description: words.trim() };
};

const ANY: JsonSchema = {};
const KEYWORDS: Readonly<Record<string, JsonSchema>> = {
  TSStringKeyword: { type: 'string' },
  TSNumberKeyword: { type: 'number' },
  TSBooleanKeyword: { type: 'boolean' },
  TSNullKeyword: { type: 'null' },
};

const unionOf = (parts: readonly JsonSchema[]): JsonSchema => {
  const constants = parts.filter((part) => 'const' in part);
  const others = parts.filter((part) => !('const' in part));
  const merged = constants.length > 1 ? [{ enum: constants.map((part) => part.const) }] : constants;
  const all = [...merged, ...others];
  if (all.some((part) => Object.keys(part).length === 0)) return ANY;
  if (all.every((part) => typeof part.type === 'string' && Object.keys(part).length === 1))
    return { type: all.map(({ type }) => type) };
  return all.length === 1 ? (all[0] ?? ANY) : { anyOf: all };
};

/** Types of TypeScript as JSON schemas. Any other type accepts everything. */
class Reader {
  readonly #declarations: Declarations;
  readonly #isPublished: (name: string) => boolean;

  constructor(declarations: Declarations, isPublished: (name: string) => boolean) {
    this.#declarations = declarations;
    this.#isPublished = isPublished;
  }

  read(type: Node, source: Source): JsonSchema {
    const keyword = KEYWORDS[type.type];
    if (keyword !== undefined) return keyword;
    switch (type.type) {
      case 'TSLiteralType':
        return { const: node(type.literal).value };
      case 'TSUnionType':
        return unionOf(nodes(type.types).map((one) => this.read(one, source)));
      case 'TSIntersectionType':
        return { allOf: nodes(type.types).map((one) => this.read(one, source)) };
      case 'TSTypeOperator':
      case 'TSParenthesizedType':
        return this.read(node(type.typeAnnotation), source);
      case 'TSArrayType':
        return { type: 'array', items: this.read(node(type.elementType), source) };
      case 'TSTypeLiteral':
        return this.#object(nodes(type.members), source);
      case 'TSTypeReference':
        return this.#reference(type, source);
      case 'TSIndexedAccessType':
        return this.#field(node(type.objectType), node(type.indexType), source);
      default:
        return ANY;
    }
  }

  #object(members: readonly Node[], source: Source): JsonSchema {
    const fields = members.filter(({ type }) => type === 'TSPropertySignature');
    const properties = fields.map((member) => {
      const schema = this.read(node(node(member.typeAnnotation).typeAnnotation), source);
      return [nameIn(member.key), { ...schema, ...commentBefore(source, member) }] as const;
    });
    const required = fields.filter(({ optional }) => optional !== true).map(({ key }) => nameIn(key));
    return { type: 'object', properties: Object.fromEntries(properties), required };
  }

  #reference(type: Node, source: Source): JsonSchema {
    const name = nameIn(type.typeName);
    const [first, second] = nodes(type.typeArguments === null ? [] : node(type.typeArguments)?.params);
    if (name === 'Readonly' && first !== undefined) return this.read(first, source);
    if (name === 'Record' && second !== undefined)
      return { type: 'object', additionalProperties: this.read(second, source) };
    if (name === 'Pick' && first !== undefined && second !== undefined) return this.#picked(first, second, source);
    if (name === 'RowOf' && first?.type === 'TSTypeQuery') return this.#row(nameIn(first.exprName), source);
    if (this.#isPublished(name)) return { $ref: `#/components/schemas/${name}` };
    const declared = this.#declarations.types.get(name);
    return declared === undefined ? ANY : this.read(declared.node, declared.source);
  }

  /** The schema of an object type itself, also of a published one. */
  #fieldsOf(type: Node, source: Source): Readonly<Record<string, JsonSchema>> {
    const declared = type.type === 'TSTypeReference' ? this.#declarations.types.get(nameIn(type.typeName)) : undefined;
    const { properties } = declared ? this.read(declared.node, declared.source) : this.read(type, source);
    return (properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  }

  #field(type: Node, index: Node, source: Source): JsonSchema {
    const { const: name } = this.read(index, source);
    return this.#fieldsOf(type, source)[String(name)] ?? ANY;
  }

  #picked(type: Node, names: Node, source: Source): JsonSchema {
    const { const: one, enum: several = [one] } = this.read(names, source) as { const?: unknown; enum?: unknown[] };
    const fields = Object.entries(this.#fieldsOf(type, source)).filter(([name]) => several.includes(name));
    return { type: 'object', properties: Object.fromEntries(fields), required: fields.map(([name]) => name) };
  }

  #row(constant: string, source: Source): JsonSchema {
    const object = this.#declarations.columns.get(source)?.get(constant);
    if (object === undefined) throw new Error(`${constant} is not an object of columns in the file of its rows`);
    const properties = nodes(object.properties).map((property) => {
      const schema = this.#column(node(property.value), source);
      return [nameIn(property.key), { ...schema, ...commentBefore(source, property) }] as const;
    });
    return { type: 'object', properties: Object.fromEntries(properties), required: properties.map(([name]) => name) };
  }

  /** `column<T>()`, or `other.name`: the column of another object. */
  #column(value: Node, source: Source): JsonSchema {
    if (value.type === 'MemberExpression') {
      const object = this.#declarations.columns.get(source)?.get(nameIn(value.object));
      const property = nodes(object?.properties).find(({ key }) => nameIn(key) === nameIn(value.property));
      return property === undefined ? ANY : this.#column(node(property.value), source);
    }
    const [type] = nodes(value.typeArguments === undefined ? [] : node(value.typeArguments)?.params);
    return type === undefined ? ANY : this.read(type, source);
  }
}

/** The schemas of these types, which files of the folders declare. */
export const jsonSchemas = (
  folders: readonly string[],
  names: readonly string[],
): Readonly<Record<string, JsonSchema>> => {
  const filesIn = (folder: string): readonly string[] =>
    globSync('**/*.ts', { cwd: folder, exclude: (name) => name.endsWith('.test.ts') })
      .sort()
      .map((file) => path.join(folder, file));
  const declarations = declarationsOf(folders.flatMap(filesIn));
  const reader = new Reader(declarations, (name) => names.includes(name));
  const schemaOf = (name: string): JsonSchema => {
    const declared = declarations.types.get(name);
    if (declared === undefined) throw new Error(`no file of ${folders.join(', ')} declares the type ${name}`);
    return reader.read(declared.node, declared.source);
  };
  return Object.fromEntries(names.map((name) => [name, schemaOf(name)]));
};
