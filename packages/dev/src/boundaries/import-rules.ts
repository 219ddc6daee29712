import path from 'node:path';
import type { Import } from './imports.ts';
import { type File, LAYERS, type Member, type Workspace } from './workspace.ts';

const KAFKA_CLIENT = 'kafkajs';
const KAFKA_PACKAGE = '@vigil/stream';

const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');

const relativeProblem = (file: File, target: string): string | null => {
  const to = path.relative(file.member.dir, path.resolve(path.dirname(file.path), target));
  return to.startsWith('..') ? 'leaves its own package by a relative path; import the other package by its name' : null;
};

const outsideProblem = (file: File, name: string, { shared }: Workspace): string | null => {
  if (name === KAFKA_CLIENT && file.member.name !== KAFKA_PACKAGE)
    return `only ${KAFKA_PACKAGE} may import the Kafka client`;
  if (file.member.dependencies.has(name) || (file.isTest && shared.has(name))) return null;
  return `${name} is not a dependency of ${file.member.name}; add it to its package.json`;
};

const memberProblem = (from: Member, to: Member, target: string): string | null => {
  if (from.layer === 'services' && to.layer === 'services' && from !== to)
    return 'a service may not import another service';
  if (LAYERS.indexOf(to.layer) > LAYERS.indexOf(from.layer)) return 'a package may not import a service';
  if (from !== to && !from.dependencies.has(to.name))
    return `${to.name} is not a dependency of ${from.name}; add it to its package.json`;
  const subpath = target === to.name ? '.' : `.${target.slice(to.name.length)}`;
  return to.exports.has(subpath) ? null : `${subpath} is not among the exports of ${to.name}`;
};

/** The problem of one import, null when there is none. */
export const importProblem = (file: File, { target }: Import, workspace: Workspace): string | null => {
  if (target.startsWith('node:')) return null;
  if (target.startsWith('.')) return relativeProblem(file, target);
  const name = packageOf(target);
  const other = workspace.members.get(name);
  return other === undefined ? outsideProblem(file, name, workspace) : memberProblem(file.member, other, target);
};
