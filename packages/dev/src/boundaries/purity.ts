import path from 'node:path';
import { type Import, sourcesFrom } from './sources.ts';

/** Processors, and the package without I/O. Everything that they import is domain code. */
const DOMAIN = ['services/*/src/**/processor{,s}.ts', 'packages/health/src/index.ts'];
/** Node's modules that only compute. Of crypto, only the hash is allowed. */
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

const isImpure = ({ target, names }: Import): boolean => {
  if (target === 'node:crypto') return names.length === 0 || names.some((name) => name !== 'createHash');
  return (target.startsWith('node:') && !COMPUTING.includes(target)) || IO_PACKAGES.includes(target);
};

const ambientLines = (code: string): readonly { readonly line: number; readonly what: string }[] =>
  code.split('\n').flatMap((text, index) => {
    const found = AMBIENT.exec(text);
    return found === null ? [] : [{ line: index + 1, what: found[0] }];
  });

const WHY = 'a processor and its imports get time, random values and the environment as arguments';

/**
 * Violations of the rule that domain files (everything that a processor imports) use no I/O, clock, random numbers or
 * environment. Each as "file:line what: why".
 */
export const purityProblems = (root: string): readonly string[] =>
  sourcesFrom(root, DOMAIN).flatMap(({ file, imports, code }) => {
    const at = path.relative(root, file);
    const impure = imports.filter(isImpure).map(({ line, target }) => `${at}:${line} imports "${target}": ${WHY}`);
    const ambient = ambientLines(code).map(({ line, what }) => `${at}:${line} uses ${what}: ${WHY}`);
    return [...impure, ...ambient];
  });
