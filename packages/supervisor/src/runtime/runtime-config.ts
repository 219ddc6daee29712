import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ID, ID_FORM } from '@vigil/events';
import { duration, templateFits } from '@vigil/policy';
import { parse } from 'yaml';
import { z } from 'zod';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { inheritedEnvironment, isOfServices, isSecret } from '../agent/inherited.ts';
import { WrongSettings } from '../errors.ts';
import { defaultPatterns } from '../output/patterns.ts';
import { environmentOfUser, type HostUser } from '../process/host-user.ts';

const UNITS = { B: 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 1 << 30, K: 1 << 10, M: 1 << 20, G: 1 << 30 } as const;

/** `512MiB`, `2G`, `100000B` as bytes; null where the text is not a size. */
export const parseSize = (text: string): number | null => {
  const found = /^(\d+(?:\.\d+)?) ?(B|KiB|MiB|GiB|K|M|G)$/.exec(text.trim());
  return found ? Math.round(Number(found[1]) * UNITS[found[2] as keyof typeof UNITS]) : null;
};

/** Bytes in a configuration: always with their unit. */
const size: z.ZodType<number> = z.unknown().transform((value, context) => {
  const bytes = typeof value === 'string' ? parseSize(value) : null;
  if (bytes !== null) return bytes;
  context.addIssue({
    code: 'custom',
    message: `${JSON.stringify(value)} is not a size: write one like 512MiB or 2GiB`,
  });
  return z.NEVER;
});

const name = z.string().regex(ID, ID_FORM);
const labels = z.record(z.string(), z.string());
const configuredCommand = z.tuple([z.string().min(1)], z.string());
const patterns = z.array(z.string());
/** A variable of the runtime's own environment. */
const variable = z
  .string()
  .regex(/^[A-Za-z_]\w*$/, 'write the name of a variable, such as ANTHROPIC_API_KEY')
  .refine(
    (one) => !isOfServices(one),
    'an agent does not get the tokens of runtimes and people, or addresses of servers: remove it',
  );
/** An agent may have a token of its own, and a database or broker that it works with; no other secret of Vigil. */
const OWN_TOKEN = 'VIGIL_GATEWAY_TOKEN';
const fixedVariables = labels.default({}).superRefine((variables, context) => {
  for (const one of Object.keys(variables))
    if (one !== OWN_TOKEN && isSecret(one))
      context.addIssue({
        code: 'custom',
        path: [one],
        message: 'an agent does not get the secrets of services and people: remove it',
      });
});
const limits = z.strictObject({
  memory: size.nullable().default(null),
  output: size.nullable().default(null),
  time: duration.nullable().default(null),
  /** false: an agent over a limit is ended */
  report_only: z.boolean().default(false),
});

/** A command, and how it is watched. The first template that fits an order's task and labels is used. */
const template = z.strictObject({
  name: name.optional(),
  /** `*` matches anything */
  task: z.string().default('*'),
  labels: labels.default({}),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  cwd: z.string().default('.'),
  /** whom its agents run as; absent: the user of the runtime */
  user: z.string().min(1).optional(),
  env: fixedVariables,
  /** names of variables that its agents inherit from the runtime, beside those that every program needs */
  pass_env: z.array(variable).default([]),
  policy: z.string().optional(),
  nudge: z.enum(['auto', 'socket', 'hook', 'terminal', 'file']).default('auto'),
  /** where `nudge: file` writes; `{agent}` is replaced by its name */
  nudge_file: z
    .strictObject({ path: z.string().min(1), format: z.enum(['jsonl', 'text']).default('jsonl') })
    .optional(),
  must_signal_completion: z.boolean().default(false),
  release: configuredCommand.optional(),
  cleanup: configuredCommand.optional(),
  pause: configuredCommand.optional(),
  resume: configuredCommand.optional(),
  /** hive's tool_logs.jsonl; `{agent}` and `{task}` are replaced by their names */
  step_log: z.string().optional(),
  limits: limits.prefault({}),
  /** where the files of an unfinished agent are written; absent: the path of its policy, below cwd */
  files: z
    .strictObject({
      recovery: z.string().optional(),
      partial_state: z.string().optional(),
      dispatch_log: z.string().optional(),
      friction: z.string().optional(),
    })
    .default({}),
  patterns: z
    .strictObject({
      rate_limit: patterns,
      error: patterns,
      fatal: patterns,
      completion: patterns,
      result: patterns,
      awaiting_input: patterns,
    })
    .partial()
    .default({}),
});

const whole = template
  .refine((one) => (one.nudge === 'file') === (one.nudge_file !== undefined), {
    path: ['nudge_file'],
    message: 'write it where nudge is file, and only there',
  })
  .refine((one) => (one.pause === undefined) === (one.resume === undefined), {
    path: ['resume'],
    message: 'write both pause and resume, or neither: what is paused by a command is resumed by one',
  })
  .refine(({ user, nudge_file, files }) => user === undefined || (!nudge_file && Object.keys(files).length === 0), {
    path: ['user'],
    message: 'an agent of another user could lead what root writes elsewhere: remove nudge_file and files',
  });

const SHORTEST_INTERVAL_MS = 1000;
const SHORTEST_INTERVAL = 'write a duration of at least 1s, such as 1s or 30s';

const agent = z.strictObject({ name, task: name, template: z.string().optional(), labels: labels.default({}) });

const runtime = z.strictObject({
  runtime: name,
  dir: z.string().optional(),
  capacity: z.int().min(0).default(8),
  labels: labels.default({}),
  /** how often it announces itself */
  announce: duration.default(30_000),
  /** absent: the interval that the gateway requests */
  interval: duration.refine((ms) => ms >= SHORTEST_INTERVAL_MS, SHORTEST_INTERVAL).optional(),
  policy: z.string().optional(),
  /** how long agents may take to end when the runtime does */
  grace: duration.default(5000),
  /** prints the host's work items as JSON, such as `br list --json` */
  work_source: z
    .strictObject({ command: configuredCommand, cwd: z.string().default('.'), interval: duration.default(30_000) })
    .optional(),
  checkpoint_roots: z.array(z.string()).default([]),
  templates: z.array(whole).default([]),
  /** started with the runtime */
  agents: z.array(agent).default([]),
});

export type Template = z.output<typeof template>;
export type RuntimeConfig = z.output<typeof runtime>;

/** Relative paths count from the file's own folder. */
const located = (config: RuntimeConfig, folder: string): RuntimeConfig => ({
  ...config,
  ...(config.dir === undefined ? {} : { dir: resolve(folder, config.dir) }),
  ...(config.work_source === undefined
    ? {}
    : { work_source: { ...config.work_source, cwd: resolve(folder, config.work_source.cwd) } }),
  checkpoint_roots: config.checkpoint_roots.map((root) => resolve(folder, root)),
  templates: config.templates.map((one) => ({ ...one, cwd: resolve(folder, one.cwd) })),
});

/** @throws WrongSettings with every mistake and its place */
export const parseRuntimeConfig = (text: string, folder: string): RuntimeConfig => {
  const parsed = runtime.safeParse(parse(text));
  if (parsed.success) return located(parsed.data, folder);
  const mistakes = parsed.error.issues.map(({ path, message }) => `  ${path.join('.') || '(whole file)'}: ${message}`);
  throw new WrongSettings(`the runtime's configuration has ${mistakes.length} mistake(s):\n${mistakes.join('\n')}`);
};

/** @throws WrongSettings where the file is missing or has mistakes */
export const readRuntimeConfig = (path: string): RuntimeConfig => {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new WrongSettings(`the runtime's configuration cannot be read: ${String(error)}`);
  }
  return parseRuntimeConfig(text, dirname(resolve(path)));
};

/** The template for this task; undefined: this runtime has none. */
export const templateFor = (
  templates: readonly Template[],
  task: string,
  given: Readonly<Record<string, string>>,
): Template | undefined => templates.find((one) => templateFits(one, task, given));

/** How a template has an agent of this name watched. */
export const monitoringOf = (one: Template, agentId: string, taskId: string | null) => ({
  patterns: { ...defaultPatterns, ...definedOnly(one.patterns) },
  nudge: one.nudge,
  nudgeFile: one.nudge_file ? { ...one.nudge_file, path: pathIn(one, one.nudge_file.path, agentId, taskId) } : null,
  mustSignalCompletion: one.must_signal_completion,
  release: one.release ?? null,
  cleanup: one.cleanup ?? null,
  pause: one.pause ?? null,
  resume: one.resume ?? null,
  stepLog: one.step_log === undefined ? null : pathIn(one, one.step_log, agentId, taskId),
  limits: limitsOf(one),
  files: {
    recovery: folderIn(one, one.files.recovery),
    partialState: folderIn(one, one.files.partial_state),
    root: null,
    dispatchLog: folderIn(one, one.files.dispatch_log),
    friction: folderIn(one, one.files.friction),
  },
});

const folderIn = ({ cwd }: Template, folder: string | undefined): string | null =>
  folder === undefined ? null : resolve(cwd, folder);

const limitsOf = ({ limits: { report_only: reportOnly, ...limits } }: Template) => ({ ...limits, reportOnly });

const pathIn = ({ cwd }: Template, path: string, agentId: string, taskId: string | null): string =>
  resolve(
    cwd,
    path.replace(/\{(agent|task)\}/g, (_, whose) => nameIn(path, whose === 'agent' ? agentId : (taskId ?? ''))),
  );

/** The planner of a task chooses its name, and must not write elsewhere on this host. */
const nameIn = (path: string, name: string): string => {
  if (!name.startsWith('/') && !name.split('/').includes('..')) return name;
  throw new WrongSettings(
    `${JSON.stringify(name)} leads elsewhere in ${path}: give it a name without .. and a leading /`,
  );
};

/** How a command is watched that no template fits. */
export const plainMonitoring = () => monitoringOf(template.parse({ command: 'none' }), '', null);

const definedOnly = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

/** Beside the configuration: the place and the identity. */
export type RuntimeSettings = {
  readonly config: RuntimeConfig;
  readonly host: string;
  /** the runtime's own environment; agents inherit a part of it */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** those that its templates name */
  readonly users: ReadonlyMap<string, HostUser>;
};

/** The users of a host, and whether this process may start others as them. */
export type HostUsers = { readonly isRoot: boolean; readonly find: (name: string) => HostUser | null };

/** @throws WrongSettings where an agent cannot run as the user that its template names */
const userOf = (name: string, place: string, { isRoot, find }: HostUsers): HostUser => {
  if (!isRoot)
    throw new WrongSettings(
      `${place}: only a runtime of root, on Linux, can start agents as ${name}: start it as root, or remove the key`,
    );
  const found = find(name);
  if (found === null)
    throw new WrongSettings(`${place}: this host has no user ${JSON.stringify(name)}: create it, or correct the name`);
  if (found.uid === 0)
    throw new WrongSettings(`${place}: ${name} has every right of the runtime: name a user without them`);
  return found;
};

/** The users that the templates name, by their names there. @throws WrongSettings */
export const usersOf = ({ templates }: RuntimeConfig, host: HostUsers): ReadonlyMap<string, HostUser> =>
  new Map(
    templates.flatMap(({ user }, index) =>
      user === undefined ? [] : [[user, userOf(user, `templates.${index}.user`, host)] as const],
    ),
  );

/** What an instance is requested by. */
export type InstanceRequest = Pick<
  AgentSpec,
  'agentId' | 'taskId' | 'attempt' | 'maxAttempts' | 'labels' | 'checkpoint' | 'handover' | 'orderId'
>;

/** @throws WrongSettings if a template would give an agent the token of its runtime */
export const checkOwnTokens = ({ config, env }: Pick<RuntimeSettings, 'config' | 'env'>): void => {
  const token = env[OWN_TOKEN];
  for (const [index, { env: fixed }] of config.templates.entries())
    if (token !== undefined && fixed[OWN_TOKEN] === token)
      throw new WrongSettings(
        `templates.${index}.env.${OWN_TOKEN} is the token of the runtime ${config.runtime}: create one for the agent (\`vigil token create agent\`)`,
      );
};

/** Null: it runs as the user of the runtime. */
const ownUserOf = ({ user }: Template, users: RuntimeSettings['users']): HostUser | null => {
  if (user === undefined) return null;
  const found = users.get(user);
  if (found === undefined) throw new WrongSettings(`the user ${user} of a template is not known`);
  return found;
};

/** An instance as its template describes it. */
export const specOf = (
  instance: InstanceRequest,
  template: Template,
  { config, host, env, users }: RuntimeSettings,
  instanceId: string,
): AgentSpec => ({
  ...instance,
  user: ownUserOf(template, users),
  ...monitoringOf(template, instance.agentId, instance.taskId),
  instanceId,
  runtimeId: config.runtime,
  policy: template.policy ?? config.policy ?? null,
  labels: { host, ...config.labels, ...instance.labels },
  parentAgentId: null,
  command: template.command,
  args: template.args,
  cwd: template.cwd,
  env: {
    ...environmentOfUser(ownUserOf(template, users), inheritedEnvironment(env, template.pass_env)),
    ...template.env,
  },
  checkpointRoots: config.checkpoint_roots,
  workSource: null,
  intervalMs: config.interval ?? null,
});
