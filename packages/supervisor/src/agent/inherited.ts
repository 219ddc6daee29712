/**
 * What a program needs to know of its user, its language and its terminal. The supervisor's own environment may hold
 * addresses and secrets, so everything else is passed on only by name.
 */
const INHERITED: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'TMPDIR', 'TZ'],
  ...['LANG', 'LANGUAGE', 'TERM', 'COLORTERM', 'TERM_PROGRAM', 'TERM_PROGRAM_VERSION', 'NO_COLOR', 'FORCE_COLOR'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR'],
]);

const isInherited = (name: string): boolean => INHERITED.has(name) || name.startsWith('LC_');

/** The tokens of runtimes and people, and the keys that sign any token: an agent gets none of them, even by name. */
export const WITHHELD: readonly string[] = [
  'VIGIL_GATEWAY_TOKEN',
  'VIGIL_GATEWAY_SECRET',
  'VIGIL_GATEWAY_SECRET_PREVIOUS',
  'VIGIL_DASHBOARD_TOKEN',
  'VIGIL_LINK_KEY',
  'VIGIL_PROOF_KEY',
  'VIGIL_PROOF_KEY_PREVIOUS',
];

const SECRETS = /^VIGIL_\w+_(?:TOKEN|SECRET|KEY)(?:_PREVIOUS)?$/;
/** The addresses and passwords of Vigil's servers, where a runtime has them. */
const SERVERS = /^KAFKA_|^SCHEMA_REGISTRY_|^DATABASE_URL$/;

/** Whether a variable by this name gives the rights of a service or person. */
export const isSecret = (name: string): boolean => WITHHELD.includes(name) || SECRETS.test(name);

/** The same, or access to Vigil's servers if its value is the runtime's own. */
export const isOfServices = (name: string): boolean => isSecret(name) || SERVERS.test(name);

/** The part of the supervisor's environment that an agent and its commands inherit. `named`: further names to pass on. */
export const inheritedEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
  named: readonly string[],
): Readonly<Record<string, string>> => {
  const wanted = new Set(named.filter((name) => !WITHHELD.includes(name)));
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && (isInherited(name) || wanted.has(name)) ? [[name, value]] : [],
    ),
  );
};

/** Proxies, and what clients of models are configured with. */
const OFTEN_NEEDED = /^(?:https?|no|all)_proxy$|^(?:anthropic|aws|claude|codex|gemini|google|openai)_|_api_key$/i;

/** The set variables that a coding agent often needs and does not get: without a hint its first request would fail. */
export const oftenNeededOf = (
  env: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string>>,
): readonly string[] =>
  Object.keys(env)
    .filter((name) => OFTEN_NEEDED.test(name) && env[name] !== undefined && !Object.hasOwn(given, name))
    .toSorted();
