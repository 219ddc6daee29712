import { ROLES } from '@vigil/read-model/people';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { gateway, type Json, show, whoAmI } from '../../terminal.ts';
import { durationOption } from '../control/options.ts';
import { ADMINISTRATION } from '../groups.ts';

const EXAMPLES = `
The gateway at VIGIL_GATEWAY_URL signs the token; VIGIL_GATEWAY_TOKEN has to be the operator's. Give the token to the runtime or agent as
its VIGIL_GATEWAY_TOKEN. The token permits reports of this one only: without --tasks about no task, without --policy with no requested policy.

A person or an orchestrator has a token of the dashboard, as its VIGIL_DASHBOARD_TOKEN. Its name, role and hash are in the file that the
dashboard reads (VIGIL_PEOPLE_FILE). A viewer reads, a responder decides cases and acknowledges alerts, an operator controls agents, the fleet
and policies, an admin may do everything.

Examples:
  vigil token create agent worker-4 --tasks 'OMN-*' --policy vigil
  vigil token create runtime build-7 --tasks 'OMN-*' --label team=core --policy vigil --capacity 8
  vigil token create person ada --role responder --valid 90d
  vigil token list
  vigil token list --people
  vigil token revoke person:ada --why "ada has left"
  vigil token revoke 5c0d2f3e-… --why "build-7 is gone"`;

const repeated = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

type Labels = Readonly<Record<string, readonly string[]>>;

const labelPattern = (text: string, labels: Labels = {}): Labels => {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write a label as name=value.');
  const name = text.slice(0, at);
  return { ...labels, [name]: [...(labels[name] ?? []), text.slice(at + 1)] };
};

const wholeNumber = (text: string): number => {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
};

type Creation = {
  readonly tasks?: readonly string[];
  readonly label?: Labels;
  readonly policy?: readonly string[];
  readonly capacity: number;
  readonly valid: number;
  readonly by: string;
  readonly json?: boolean;
  readonly role?: string;
  readonly peopleFile?: string;
};
type Listing = { readonly json?: boolean; readonly people?: boolean; readonly peopleFile?: string };
type Revocation = Json & { readonly by: string; readonly why: string; readonly peopleFile?: string };
type Created = { readonly token: string; readonly tokenId: string; readonly expiresAt: number };

const KINDS = ['runtime', 'agent', 'person'];

const PERSON = 'person:';

const create = async (kind: string, name: string, options: Creation): Promise<void> => {
  if (kind === 'person') {
    const { createPerson } = await import('./people.ts');
    show(options.json, { token: createPerson(name, options) }, ({ token }) => [token]);
    return;
  }
  const { tasks = [], label: labels = {}, policy: policies = [], capacity, valid: validMs, by, json } = options;
  const request = { kind, name, tasks, labels, policies, capacity, validMs, by };
  const created = await gateway().post<Created>('/v1/tokens', request);
  show(json, created, ({ token }) => [token]);
};

const MONTH_MS = 30 * 86_400_000;

export const register = (program: Command): void => {
  const token = program
    .command('token')
    .helpGroup(ADMINISTRATION)
    .description('tokens of runtimes and agents for the gateway, and of people for the dashboard')
    .addHelpText('after', EXAMPLES);
  token
    .command('create')
    .description('create a token of a runtime, an agent or a person, and print it; a pattern matches any text with *')
    .addArgument(new Argument('<kind>', 'whose').choices(KINDS))
    .argument('<name>', 'its name')
    .option('--tasks <pattern>', 'tasks that it may name; repeatable', repeated)
    .option('--label <name=pattern>', 'a label that it may set; repeatable', labelPattern)
    .option('--policy <name>', 'a policy that it may request; repeatable', repeated)
    .option('--capacity <count>', 'the most agents that a runtime may announce room for', wholeNumber, 0)
    .addOption(new Option('--role <role>', 'of a person').choices(ROLES).argParser(String))
    .option('--people-file <file>', 'of a person: the file that the dashboard reads; default VIGIL_PEOPLE_FILE')
    .addOption(
      new Option('--valid <duration>', 'how long it is valid, such as 12h')
        .argParser(durationOption)
        .default(MONTH_MS, '30d'),
    )
    .option('--by <name>', 'your name', whoAmI())
    .option('--json', 'for programs')
    .action(create);
  token
    .command('list')
    .description('tokens that have not expired, and those that are revoked')
    .option('--people', 'of people, from the file that the dashboard reads')
    .option('--people-file <file>', 'the file; default VIGIL_PEOPLE_FILE')
    .option('--json', 'for programs')
    .action(async ({ json, people, peopleFile }: Listing) => {
      const { peopleTable, tokensTable } = await import('../../render/fleet/tokens.ts');
      if (people === true) {
        const { listPeople } = await import('./people.ts');
        show(json, listPeople(peopleFile === undefined ? {} : { peopleFile }), (rows, view) => peopleTable(view, rows));
        return;
      }
      const { tokens } = await gateway().get<{ readonly tokens: Parameters<typeof tokensTable>[1] }>('/v1/tokens');
      show(json, tokens, (rows, view) => tokensTable(view, rows));
    });
  token
    .command('revoke <id>')
    .description('make a token and all its renewals invalid')
    .requiredOption('--why <text>', 'the reason, for those who read it later')
    .option('--people-file <file>', 'of a person: the file that the dashboard reads; default VIGIL_PEOPLE_FILE')
    .option('--by <name>', 'your name', whoAmI())
    .option('--json', 'for programs')
    .action(async (id: string, { by, why, json, ...options }: Revocation) => {
      if (id.startsWith(PERSON)) {
        const { revokePerson } = await import('./people.ts');
        revokePerson(id.slice(PERSON.length), options);
        show(json, { revoked: id }, ({ revoked }) => [`Revoked: ${revoked}.`]);
        return;
      }
      await gateway().post(`/v1/tokens/${encodeURIComponent(id)}/revoke`, { by, why });
      show(json, { revoked: id }, ({ revoked }) => [`Revoked: ${revoked}.`]);
    });
};
