import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SERVICES } from '../system/services.ts';

const FILES = ['docker-compose.yml', 'deploy/kubernetes/kustomization.yaml'];
const PROBE_PORT = 7430; // of every container
const probes = SERVICES.map((name) => `${name}=http://${name}:${PROBE_PORT}`).join(',');

/** The deployments with the probes of all services in VIGIL_PROBES. */
export const probeFiles = (root: string): ReadonlyMap<string, string> =>
  new Map(
    FILES.map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      if (!text.includes('VIGIL_PROBES')) throw new Error(`${file} gives the dashboard no VIGIL_PROBES: add it`);
      return [file, text.replace(/(VIGIL_PROBES(?:=|: )).*$/m, `$1${probes}`)];
    }),
  );
