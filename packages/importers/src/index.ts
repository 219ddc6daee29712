export { IMPORT_KINDS, type Imported, type ImportKind, importPolicy, MIGRATIONS } from './importers.ts';
