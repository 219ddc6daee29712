import path from 'node:path';
import { reachedFrom } from './graph.ts';
import type { Import } from './imports.ts';
import type { File, Workspace } from './workspace.ts';

/** Packages without I/O: all that their index reaches is domain. */
const PURE_PACKAGES = ['@vigil/health'];
/** Node's modules that only compute; of crypto only the hash. */
const COMPUTING = ['node:assert', 'node:assert/strict', 'node:util', 'node:path', 'node:buffer'];
const IO_PACKAGES = [
  'pg',
  'fastify',
  'pino',
  'testcontainers',
  'node-pg-migrate',
  '@kafkajs/confluent-schema-registry',
  '@lydell/node-pty',
];
const AMBIENT =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bprocess\.|\bfetch\(|\bset(Timeout|Interval)\(/;

const isRoot = ({ path: file, member, isTest }: File): boolean => {
  if (isTest) return false;
  const name = path.relative(path.join(member.dir, 'src'), file);
  if (member.layer === 'services') return /(^|\/|-)processor\.ts$/.test(name);
  return PURE_PACKAGES.includes(member.name) && name === 'index.ts';
};

const isImpure = ({ target, typeOnly, names }: Import): boolean => {
  if (typeOnly) return false;
  if (target === 'node:crypto') return names.length === 0 || names.some((name) => name !== 'createHash');
  return (target.startsWith('node:') && !COMPUTING.includes(target)) || IO_PACKAGES.includes(target);
};

const ambientLines = (code: string): readonly { readonly line: number; readonly what: string }[] =>
  code.split('\n').flatMap((text, index) => {
    const found = AMBIENT.exec(text);
    return found === null ? [] : [{ line: index + 1, what: found[0] }];
  });

const WHY = 'a processor and what it decides with take time, chance and the world as arguments';

/** Domain files, all that a processor.ts reaches, import no I/O and use no clock, chance or environment. */
export const purityProblems = (workspace: Workspace): readonly string[] => {
  const roots = [...workspace.files.values()].filter(isRoot);
  return [...reachedFrom(roots, workspace)].flatMap((file) => {
    const at = path.relative(workspace.root, file.path);
    const imports = file.imports
      .filter(isImpure)
      .map(({ line, target }) => `${at}:${line} imports "${target}": ${WHY}`);
    const ambient = ambientLines(file.code).map(({ line, what }) => `${at}:${line} uses ${what}: ${WHY}`);
    return [...imports, ...ambient];
  });
};
