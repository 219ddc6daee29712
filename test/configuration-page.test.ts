import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { SettingMeta } from '../packages/chassis/src/config.ts';
import type { Service } from '../packages/chassis/src/service.ts';
import { type Setting, settingsOf } from '../packages/chassis/src/setting-list.ts';
import { COMMAND_VARIABLES } from '../packages/cli/src/config.ts';
import { HOOK_VARIABLES } from '../packages/hook/src/session/agents.ts';
import { SDK_VARIABLES } from '../packages/sdk/src/connect.ts';
import { AGENT_VARIABLES } from '../packages/supervisor/src/agent/agent-spec.ts';

const root = path.resolve(import.meta.dirname, '..');
const filesOf = (...patterns: readonly string[]): readonly string[] => globSync(patterns, { cwd: root }).toSorted();
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** A module of a service exports its service only. */
const serviceIn = async (file: string): Promise<Service> => {
  const [service] = Object.values<Service>(await import(path.join(root, file)));
  if (service === undefined) throw new Error(`${file} exports no service`);
  return service;
};

const services = await Promise.all(filesOf('services/*/src/service.ts').map(serviceIn));

/** A setting with the services that read it. */
type ServiceSetting = { readonly setting: Setting; readonly readers: readonly string[] };

/** A variable that services describe differently has a row for each description. */
const serviceSettings = (): readonly ServiceSetting[] => {
  const rows = new Map<string, ServiceSetting>();
  for (const { name, config } of services)
    for (const setting of settingsOf(config)) {
      const key = JSON.stringify(setting);
      rows.set(key, { setting, readers: [...(rows.get(key)?.readers ?? []), name] });
    }
  return [...rows.values()];
};

const all = serviceSettings();
const ofEvery = all.filter(({ readers }) => readers.length === services.length);
const ofSeveral = all.filter(({ readers }) => readers.length > 1 && readers.length < services.length);
const ofOne = (name: string): readonly ServiceSetting[] =>
  all.filter(({ readers }) => readers.length === 1 && readers[0] === name);

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;')).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly string[]): string =>
  [row(...head), `|${'---|'.repeat(head.length)}`, ...rows].join('\n');

type Described = Pick<Setting, 'name' | 'isSecret' | 'description'>;

/** `names`: all variables of the same processes, among which is the file of a secret, if there is one. */
const meaningOf = ({ name, isSecret, description }: Described, names: ReadonlySet<string>): string => {
  const file = `${name}_FILE`;
  const secret = names.has(file) ? `**Secret**; \`${file}\` may name its file instead. ` : '**Secret.** ';
  return `${isSecret ? secret : ''}${description}`;
};

const defaultOf = ({ default: value, isRequired }: Setting): string => (isRequired ? 'required' : (value ?? '–'));

const SERVICE_NAMES: ReadonlySet<string> = new Set(all.map(({ setting }) => setting.name));

const serviceTable = (settings: readonly ServiceSetting[], { hasReaders }: { readonly hasReaders: boolean }): string =>
  table(
    ['variable', ...(hasReaders ? ['read by'] : []), 'value', 'default', 'meaning'],
    settings.map(({ setting, readers }) =>
      row(
        `\`${setting.name}\``,
        ...(hasReaders ? [readers.join(', ')] : []),
        setting.values,
        defaultOf(setting),
        meaningOf(setting, SERVICE_NAMES),
      ),
    ),
  );

type Variables = Readonly<Record<string, SettingMeta>>;

/** A default is a literal, or words. */
const literal = (value: string | undefined): string =>
  value === undefined ? '–' : /\s/.test(value) ? value : `\`${value}\``;

const clientTable = (variables: Variables): string =>
  table(
    ['variable', 'value', 'default', 'meaning'],
    Object.entries(variables).map(([name, { values = 'text', default: value, description, isSecret = false }]) =>
      row(
        `\`${name}\``,
        values,
        literal(value),
        meaningOf({ name, isSecret, description }, new Set(Object.keys(variables))),
      ),
    ),
  );

const sectionOf = ({ name }: Service): readonly string[] => {
  const settings = ofOne(name);
  return settings.length === 0 ? [] : [`## ${name}`, serviceTable(settings, { hasReaders: false })];
};

const namesIn = (text: string): readonly string[] => text.match(/\bVIGIL_[A-Z][A-Z_0-9]*\b/g) ?? [];

const clientNames = [COMMAND_VARIABLES, HOOK_VARIABLES, SDK_VARIABLES, AGENT_VARIABLES].flatMap(Object.keys);
const described: ReadonlySet<string> = new Set([...SERVICE_NAMES, ...clientNames]);

/** The variables that docker-compose.yml replaces, except those that it only passes on to a service. */
const ofCompose = [...new Set((read('docker-compose.yml').match(/\$\{VIGIL_\w+/g) ?? []).flatMap(namesIn))]
  .filter((name) => !described.has(name))
  .toSorted();

const page = `${[
  '<!-- Written from the types of the settings by test/configuration-page.test.ts. Do not edit: delete it, and run that test. -->\n# Configuration',
  `The settings of processes are environment variables. A service reads them once, at its start, and an empty variable counts as not set.
A wrong value ends it with code 2, and the message names the variable and the remedy.`,
  `[Policies](policies.md) decide how agents are judged. [Channels](channels.md) of alerts are in a file, which may name further variables for their secrets.
A secret belongs only to the services that read it ([how](between-servers.md#secrets)).
[docker-compose.yml](../docker-compose.yml) has variables of its own: ${ofCompose.map((name) => `\`${name}\``).join(', ')}.`,
  '## Every service',
  `A service needs one log: \`VIGIL_LOG_FILE\`, or \`KAFKA_BROKERS\` with \`SCHEMA_REGISTRY_URL\`. [Between the servers](between-servers.md) has TLS and authentication.`,
  serviceTable(ofEvery, { hasReaders: false }),
  '## Several services',
  `A process of all services (\`npm start -- --embedded\`) reads the variables of each.
\`VIGIL_PROBES\` then also sets the port at which each service answers probes.`,
  serviceTable(ofSeveral, { hasReaders: true }),
  ...services.flatMap(sectionOf),
  '## npm start',
  'It passes the variables of the services on, and sets their ports itself. Its servers, services and commands use the moved ports.',
  clientTable({
    VIGIL_PORT_OFFSET: {
      values: 'whole number, 0 to 40000',
      default: '0',
      description: 'Moves every port, so that two clones run side by side: give the second one 100.',
    },
  }),
  '## The command line and runtimes',
  `\`vigil run\` and \`vigil runtime\` are runtimes. Options of the [command line](cli.md) set some of these variables too.
Commands that open the log themselves also read the variables of the log above. \`vigil doctor\` reads \`DATABASE_URL\`, and \`vigil replay rebuild\` reads the variables of the projector.
Commands find the addresses and tokens of an \`npm start\` on the same machine.`,
  clientTable(COMMAND_VARIABLES),
  '## Hooks of coding agents',
  clientTable(HOOK_VARIABLES),
  '## Agents with a client library',
  `The [SDK](../packages/sdk/README.md) reads these variables. Over Kafka it reads \`KAFKA_BROKERS\`, \`SCHEMA_REGISTRY_URL\` and the variables of their authentication.
The [Python client](../packages/python-client/README.md) reads the same, except \`VIGIL_SOCKET\` and those of Kafka.`,
  clientTable(SDK_VARIABLES),
  '## Set by a runtime for its agents',
  'You set none of these: a [runtime](../packages/supervisor/README.md#an-agents-environment) sets them for each agent and its commands.',
  table(
    ['variable', 'meaning'],
    Object.entries(AGENT_VARIABLES).map(([name, { description }]) => row(`\`${name}\``, description)),
  ),
].join('\n\n')}\n`;

test('docs/configuration.md has every setting; deleted, it is written again', async () => {
  await expect(page).toMatchFileSnapshot(path.join(root, 'docs/configuration.md'));
});

/** Variables that no user of Vigil sets. */
const NOT_SETTINGS: Readonly<Record<string, string>> = {
  VIGIL_FLEET_STATE_DIR: 'npm start sets it, so that commands find the agents of the demonstration fleet',
  VIGIL_HANDED_OVER_BY: 'npm start and npm test set it for the Node that they start',
  VIGIL_POSTGRES_PASSWORD: 'npm start sets it for docker-compose.yml',
  VIGIL_START_DIR: 'the test of npm start sets it, so that the start has a folder of its own',
  VIGIL_STARTING: 'the launcher of the command line sets it while npm start is starting',
  VIGIL_SOAK: 'npm test sets it for long tests',
  VIGIL_TEST_BROKERS: 'npm test sets it for tests with several brokers',
  VIGIL_TEST_SERVERS: 'npm test sets it for tests on its servers',
  VIGIL_TEST_SUMMARY: 'npm test sets it for its reporter',
  VIGIL_WEBHOOK_SECRET: 'an example of a variable that a channel names',
};

const isTest = (file: string): boolean => /\.(test|fixture)\.ts$|\/testing(\.ts$|\/)/.test(file);

/** The variables that sources name, each with a file that does. */
const namedBy = (sources: string): ReadonlyMap<string, string> =>
  new Map(
    filesOf(sources)
      .filter((file) => !isTest(file))
      .flatMap((file) => namesIn(read(file)).map((name) => [name, file] as const)),
  );

const named = namedBy('{packages,services}/*/{src,bootstrap}/**/*.{ts,tsx,mjs,py}');

test('the page has every variable that a source names and a user sets', () => {
  const isKnown = (name: string): boolean => page.includes(`\n| \`${name}\` | `) || Object.hasOwn(NOT_SETTINGS, name);
  expect([...named].filter(([name]) => !isKnown(name))).toEqual([]);
});

test.each(services)('the page has every variable that the sources of $name name, as one that it reads', (service) => {
  const own = new Set(settingsOf(service.config).map(({ name }) => name));
  expect([...namedBy(`services/${service.name}/src/**/*.ts`)].filter(([name]) => !own.has(name))).toEqual([]);
});

test('a variable that no user sets is in the sources', () => {
  expect(Object.keys(NOT_SETTINGS).filter((name) => !named.has(name))).toEqual([]);
});

test('the page has no path of this machine', () => {
  expect(page).not.toContain(root);
});
