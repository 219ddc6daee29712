import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../paths.ts';
import { Refusal } from '../refusal.ts';

/** Manifests as a tool renders them. They are in the repository, so that tests read them without the tool. */
export type Rendering = {
  readonly file: string;
  /** folders with every file that the result depends on */
  readonly sources: readonly string[];
  readonly command: readonly [tool: string, ...args: string[]];
};

const CHART = 'deploy/helm/vigil';
const BASE = 'deploy/kubernetes/base';
const OVERLAY = 'deploy/kubernetes/overlays/production';

export const RENDERINGS: readonly Rendering[] = [
  { file: 'kustomize-base.yml', sources: [BASE], command: ['kubectl', 'kustomize', BASE] },
  { file: 'kustomize-production.yml', sources: [BASE, OVERLAY], command: ['kubectl', 'kustomize', OVERLAY] },
  {
    file: 'helm-default.yml',
    sources: [CHART],
    command: ['helm', 'template', 'vigil', CHART, '--namespace', 'vigil'],
  },
  {
    file: 'helm-production.yml',
    sources: [CHART, 'deploy/helm/production.yaml'],
    command: ['helm', 'template', 'vigil', CHART, '--namespace', 'vigil', '--values', 'deploy/helm/production.yaml'],
  },
];

/** The folder of all renderings. */
export const RENDERED = 'deploy/rendered';

/** The hash of the sources' paths and texts. */
export const hashOfSources = ({ sources }: Rendering): string => {
  const hash = createHash('sha256');
  for (const file of globSync(
    sources.flatMap((source) => [source, `${source}/**/*.*`]),
    { cwd: root },
  ).toSorted())
    if (path.extname(file) !== '') hash.update(`${file}\n`).update(readFileSync(path.join(root, file)));
  return hash.digest('hex').slice(0, 16);
};

export const headerOf = (rendering: Rendering): string =>
  `# \`npm run render\` writes this file: ${rendering.command.join(' ')}. Sources: ${hashOfSources(rendering)}`;

/** Whether the tool of a rendering is on this machine. */
export const hasTool = ({ command: [tool] }: Rendering): boolean => {
  const { status } = spawnSync(tool, tool === 'helm' ? ['version'] : ['version', '--client']);
  return status === 0;
};

/** The manifests, as the tool prints them now. Throws Refusal if it fails. */
export const render = ({ command: [tool, ...args] }: Rendering): string => {
  const { status, stdout, stderr } = spawnSync(tool, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Refusal(`${[tool, ...args].join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
};
