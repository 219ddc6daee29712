import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMPILATIONS, PROJECT } from './project.ts';

const root = path.resolve(import.meta.dirname, '../..');
const isLong = process.env.VIGIL_SOAK === '1';
/** The oldest Node that each package names, and two newer ones. `npm test long test/packages -- --unit` fetches and runs them. */
const NODES = { oldest: '20.11.1', oldestOfCli: '20.16.0', middle: '22.11.0', newest: '24.21.0' };
const platform = `${process.platform}-${process.arch}`;

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-packages-'));
const project = path.join(dir, 'project');
const nodes = path.join(dir, 'nodes');
const cache = path.join(dir, 'cache');
const vigil = path.join(project, 'node_modules/@vigil/cli/dist/vigil.js');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Ends only a run that hangs: on a busy machine it takes minutes. */
const PATIENCE_MS = 600_000;

/** npm keeps the settings of the user, such as those of the registry. */
const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> =>
  spawnSync(command, args, { cwd: project, encoding: 'utf8', env: { ...process.env, ...env } });

const checked = ({ status, stdout, stderr }: SpawnSyncReturns<string>): string => {
  expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
  return stdout;
};

const npmInstall = (prefix: string, ...packages: readonly string[]): string =>
  checked(
    run('npm', [
      'install',
      '--prefix',
      prefix,
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      ...packages,
    ]),
  );

/** The path of a Node of this version: this one, or one that npm has fetched. */
const nodeOf = (version: string): string => {
  if (version === process.versions.node) return process.execPath;
  const own = path.join(nodes, version);
  const file = path.join(own, `node_modules/node-${platform}/bin/node`);
  if (existsSync(file)) return file;
  mkdirSync(own, { recursive: true });
  npmInstall(own, `node-${platform}@${version}`);
  return file;
};

const onNode = (version: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  run(nodeOf(version), args, { XDG_CACHE_HOME: cache, ...env });

beforeAll(() => {
  mkdirSync(project);
  for (const [name, text] of Object.entries(PROJECT)) writeFileSync(path.join(project, name), text);
  cpSync(path.join(import.meta.dirname, 'project'), project, { recursive: true });
  checked(run(process.execPath, [path.join(root, 'packages/dev/src/pack.ts'), path.join(dir, 'packed')]));
  npmInstall(project, ...globSync('packed/*.tgz', { cwd: dir }).map((file) => path.join(dir, file)));
}, PATIENCE_MS);

test('an install has the four packages, and no other package of this repository', () => {
  expect(readdirSync(path.join(project, 'node_modules/@vigil')).sort()).toEqual(['cli', 'events', 'policy', 'sdk']);
});

test.each(COMPILATIONS)(
  'a strict compiler accepts the packages with %s, and finds the mistakes in their use',
  (config) => {
    checked(run(path.join(root, 'node_modules/.bin/tsc'), ['-p', config]));
  },
);

test('no file of the packages imports SQLite when it is loaded: Node 20 does not have it', () => {
  const files = globSync('node_modules/@vigil/*/dist/**/*.js', { cwd: project });
  expect(files.length).toBeGreaterThan(50);
  const importing = files.filter((file) =>
    /from\s*["']node:sqlite["']/.test(readFileSync(path.join(project, file), 'utf8')),
  );
  expect(importing).toEqual([]);
});

/** The short form fetches none. */
const versions = (...all: readonly string[]): readonly string[] => (isLong ? all : [process.versions.node]);

test.each(versions(NODES.oldest, NODES.middle, NODES.newest))(
  'the SDK runs in plain JavaScript on Node %s',
  (version) => {
    expect(checked(onNode(version, ['agent.mjs']))).toContain(`on Node ${version}`);
  },
);

test.each(versions(NODES.middle, NODES.newest))('events and policy run in plain JavaScript on Node %s', (version) => {
  expect(checked(onNode(version, ['libraries.mjs']))).toContain(`on Node ${version}`);
});

describe.each(versions(NODES.oldestOfCli, NODES.middle, NODES.newest))('vigil on Node %s', (version) => {
  const cli = (...args: readonly string[]) => onNode(version, [vigil, ...args]);

  test('has its version, its help and its completion without another Node', () => {
    expect(checked(cli('--version'))).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(checked(cli('--help'))).toContain('policy');
    expect(checked(cli('completion', 'bash'))).toContain('vigil');
    expect(existsSync(path.join(cache, 'vigil'))).toBe(false);
  });

  test('asks a server without another Node', () => {
    const { status, stderr } = onNode(version, [vigil, 'health'], { VIGIL_DASHBOARD_TOKEN: '' });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('VIGIL_DASHBOARD_TOKEN is not set'),
    });
    expect(existsSync(path.join(cache, 'vigil'))).toBe(false);
  });
});

/** Without another Node where this one runs all of Vigil; else with the one that npm fetches once. */
describe.each(versions(NODES.newest, NODES.oldestOfCli))(
  'the commands of vigil for a recent Node, on Node %s',
  (version) => {
    const cli = (...args: readonly string[]) => onNode(version, [vigil, ...args]);
    const fetches = version === NODES.oldestOfCli;

    test('find the presets of the package, and another Node is fetched once at most', () => {
      const init = ['init', '--yes', '--dir', path.join(dir, `policies-${version}`)];
      const first = cli(...init);
      expect(checked(first)).toContain('written');
      expect(first.stderr.includes('fetching Node')).toBe(fetches);
      const again = cli(...init);
      expect(checked(again)).not.toContain('written');
      expect(again.stderr).toBe('');
    });

    test('rebuild the read model with the migrations of the package, and name a Postgres that does not answer', () => {
      const file = path.join(dir, `log-${version}.db`);
      writeFileSync(file, '');
      // The other tests of this run have Kafka.
      const noKafka = { KAFKA_BROKERS: '', SCHEMA_REGISTRY_URL: '' };
      const env = { ...noKafka, VIGIL_LOG_FILE: file, DATABASE_URL: 'postgres://vigil@127.0.0.1:1/vigil' };
      const { status, stderr } = onNode(version, [vigil, 'replay', 'rebuild', '--yes'], env);
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: expect.stringContaining('Postgres at 127.0.0.1:1/vigil'),
      });
      expect(readdirSync(path.join(project, 'node_modules/@vigil/cli/migrations'))).toEqual(
        readdirSync(path.join(root, 'packages/read-model/migrations')),
      );
    });

    test('run an agent in a terminal, with the programs of the package', () => {
      const unwatched = [
        'run',
        '--name',
        'worker-1',
        '--dir',
        path.join(dir, `state-${version}`),
        '--',
        'sh',
        '-c',
        'echo done; exit 3',
      ];
      const { status, stdout } = cli(...unwatched);
      expect({ status, stdout }).toEqual({ status: 3, stdout: expect.stringContaining('done') });
    });
  },
);
