import { describe, expect, test } from 'vitest';
import type { HostUser } from '../process/host-user.ts';
import { type HostUsers, parseRuntimeConfig, specOf, type Template, usersOf } from './runtime-config.ts';

const WORKER: HostUser = { name: 'worker', uid: 1001, gid: 1002, home: '/home/worker', shell: '/bin/sh' };
const ROOT: HostUser = { name: 'root', uid: 0, gid: 0, home: '/root', shell: '/bin/sh' };
const HOST: HostUsers = { isRoot: true, find: (name) => [WORKER, ROOT].find((one) => one.name === name) ?? null };
const configOf = (template: string) =>
  parseRuntimeConfig(`{ runtime: build-7, templates: [{ command: sh, ${template} }] }`, '/');

const REQUEST = {
  agentId: 'worker-1',
  taskId: 'TASK-1',
  attempt: 0,
  maxAttempts: null,
  labels: {},
  checkpoint: null,
  handover: null,
  orderId: null,
};
const specBy = (template: string) => {
  const config = configOf(template);
  const env = { PATH: '/bin', HOME: '/root' };
  const settings = { config, host: 'host-1', env, users: usersOf(config, HOST) };
  return specOf(REQUEST, config.templates[0] as Template, settings, 'instance-1');
};

test('an agent of a template with a user is of that user, with its home', () => {
  expect(specBy('user: worker')).toMatchObject({ user: WORKER, env: { HOME: '/home/worker', USER: 'worker' } });
});

test('a variable that the template sets is not replaced by that of its user', () => {
  expect(specBy('user: worker, env: { HOME: /srv }').env).toMatchObject({ HOME: '/srv', USER: 'worker' });
});

test('an agent of a template without a user is of the runtime’s', () => {
  expect(specBy('nudge: auto')).toMatchObject({ user: null, env: { HOME: '/root' } });
});

describe('a template is refused', () => {
  const usersBy = (template: string, host = HOST) => usersOf(configOf(template), host);

  test('whose user the runtime cannot start agents as', () => {
    expect(() => usersBy('user: worker', { ...HOST, isRoot: false })).toThrow(
      'templates.0.user: only a runtime of root, on Linux, can start agents as worker',
    );
  });

  test('whose user does not exist', () => {
    expect(() => usersBy('user: worked')).toThrow('templates.0.user: this host has no user "worked"');
  });

  test('whose user is root', () => {
    expect(() => usersBy('user: root')).toThrow('templates.0.user: root has every right of the runtime');
  });

  test.each(['nudge: file, nudge_file: { path: texts }', 'files: { recovery: saved }', 'files: { dispatch_log: log }'])(
    'whose user could lead a file of the runtime elsewhere: %s',
    (files) => {
      expect(() => configOf(`user: worker, ${files}`)).toThrow('templates.0.user: an agent of another user could lead');
      expect(() => configOf(files)).not.toThrow();
    },
  );
});

test('a runtime without root starts agents of its own user', () => {
  expect(usersOf(configOf('nudge: auto'), { ...HOST, isRoot: false }).size).toBe(0);
});
