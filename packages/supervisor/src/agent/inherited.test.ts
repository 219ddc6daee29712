import { expect, test } from 'vitest';
import { checkOwnTokens, parseRuntimeConfig, specOf, type Template } from '../runtime/runtime-config.ts';
import { inheritedEnvironment, oftenNeededOf } from './inherited.ts';

const SECRETS = {
  VIGIL_GATEWAY_TOKEN: 'runtime',
  VIGIL_GATEWAY_SECRET: 'key',
  VIGIL_GATEWAY_SECRET_PREVIOUS: 'old key',
  VIGIL_DASHBOARD_TOKEN: 'people',
  VIGIL_LINK_KEY: 'link key',
  VIGIL_PROOF_KEY: 'proof key',
  VIGIL_PROOF_KEY_PREVIOUS: 'old proof key',
  VIGIL_WEBHOOK_SECRET: 'whsec_x',
  DATABASE_URL: 'postgres://vigil:vigil@h/vigil',
  SCHEMA_REGISTRY_URL: 'http://user:password@h',
  KAFKA_BROKERS: '127.0.0.1:9092',
  KAFKA_SASL_PASSWORD: 'password',
  SLACK_TOKEN: 'xoxb',
};
const BASE = { PATH: '/usr/bin', HOME: '/home/ada', LANG: 'C.UTF-8', LC_TIME: 'C', TERM: 'xterm' };

test('an agent inherits what every program needs, and no secret and no address of a server', () => {
  expect(inheritedEnvironment({ ...BASE, ...SECRETS, UNSET: undefined }, [])).toEqual(BASE);
});

test('a variable that is named is passed on, and a name that is not set is not', () => {
  expect(inheritedEnvironment({ ...BASE, ...SECRETS }, ['SLACK_TOKEN', 'MISSING'])).toEqual({
    ...BASE,
    SLACK_TOKEN: 'xoxb',
  });
});

test('the tokens of runtimes and people and the signing keys are not passed on, even by name', () => {
  const names = [
    'VIGIL_GATEWAY_TOKEN',
    'VIGIL_GATEWAY_SECRET',
    'VIGIL_GATEWAY_SECRET_PREVIOUS',
    'VIGIL_DASHBOARD_TOKEN',
    'VIGIL_LINK_KEY',
    'VIGIL_PROOF_KEY',
    'VIGIL_PROOF_KEY_PREVIOUS',
  ];
  expect(inheritedEnvironment({ ...BASE, ...SECRETS }, names)).toEqual(BASE);
});

test('variables that a coding agent often needs are named where it does not get them', () => {
  const env = {
    ...BASE,
    ...SECRETS,
    ANTHROPIC_API_KEY: 'k',
    https_proxy: 'http://p',
    MY_API_KEY: 'm',
    OPENAI_X: undefined,
  };
  expect(oftenNeededOf(env, BASE)).toEqual(['ANTHROPIC_API_KEY', 'MY_API_KEY', 'https_proxy']);
  expect(oftenNeededOf(env, { ...BASE, ANTHROPIC_API_KEY: 'k' })).toEqual(['MY_API_KEY', 'https_proxy']);
  expect(oftenNeededOf({ ...BASE, ...SECRETS }, BASE)).toEqual([]);
});

const REQUEST = {
  ...{ agentId: 'worker-1', taskId: 'TASK-1', attempt: 0, maxAttempts: null, labels: {} },
  ...{ checkpoint: null, handover: null, orderId: null },
};
const environmentBy = (template: string) => {
  const config = parseRuntimeConfig(`{ runtime: build-7, templates: [{ command: sh, ${template} }] }`, '/');
  const settings = { config, host: 'host-1', env: { ...BASE, ...SECRETS }, users: new Map() };
  return specOf(REQUEST, config.templates[0] as Template, settings, 'instance-1').env;
};

test('an agent of a template gets what the template names, and nothing else of its runtime', () => {
  expect(environmentBy('env: { EXTRA: x }')).toEqual({ ...BASE, EXTRA: 'x' });
  expect(environmentBy('pass_env: [SLACK_TOKEN]')).toEqual({ ...BASE, SLACK_TOKEN: 'xoxb' });
});

test('a template that names a token of Vigil, or no variable, is refused', () => {
  expect(() => environmentBy('pass_env: [VIGIL_GATEWAY_TOKEN]')).toThrow(
    /pass_env\.0: an agent does not get the tokens/,
  );
  expect(() => environmentBy('env: { VIGIL_LINK_KEY: x }')).toThrow(
    /env\.VIGIL_LINK_KEY: an agent does not get the secrets/,
  );
  expect(() => environmentBy("pass_env: ['A=b']")).toThrow(/pass_env\.0: write the name of a variable/);
});

test.each(['KAFKA_BROKERS', 'KAFKA_SASL_PASSWORD', 'SCHEMA_REGISTRY_URL', 'DATABASE_URL', 'VIGIL_WEBHOOK_SECRET'])(
  'a template that passes on %s of its runtime is refused',
  (name) => {
    expect(() => environmentBy(`pass_env: [${name}]`)).toThrow(/pass_env\.0: an agent does not get the tokens/);
  },
);

test('a template that sets a secret of a service is refused', () => {
  expect(() => environmentBy('env: { VIGIL_WEBHOOK_SECRET: x }')).toThrow(
    /env\.VIGIL_WEBHOOK_SECRET: an agent does not get the secrets/,
  );
});

test('a template may set an API key, and the database that its agents work with', () => {
  const variables = { ANTHROPIC_API_KEY: 'k', SLACK_TOKEN: 't', KAFKA_BROKERS: 'b', DATABASE_URL: 'd' };
  const text = Object.entries(variables).map(([name, value]) => `${name}: ${value}`);
  expect(environmentBy(`env: { ${text.join(', ')} }`)).toEqual({ ...BASE, ...variables });
});

test('a template may give an agent a token of its own, and not that of its runtime', () => {
  const check = (token: string) =>
    checkOwnTokens({
      config: parseRuntimeConfig(
        `{ runtime: build-7, templates: [{ command: sh, env: { VIGIL_GATEWAY_TOKEN: ${token} } }] }`,
        '/',
      ),
      env: { VIGIL_GATEWAY_TOKEN: 'of-the-runtime' },
    });
  expect(() => check('of-the-runtime')).toThrow(
    'templates.0.env.VIGIL_GATEWAY_TOKEN is the token of the runtime build-7',
  );
  expect(() => check('of-the-agent')).not.toThrow();
});
