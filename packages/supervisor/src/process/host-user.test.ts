import { expect, test } from 'vitest';
import { environmentOfUser, findHostUser, type HostUser, hostUserIn } from './host-user.ts';

const WORKER: HostUser = { name: 'worker', uid: 1001, gid: 1002, home: '/home/worker', shell: '/bin/bash' };

test('a user is what its entry names', () => {
  expect(hostUserIn('worker:x:1001:1002:A worker,,,:/home/worker:/bin/bash\n')).toEqual(WORKER);
});

test('a user without a home or shell has those of the system', () => {
  expect(hostUserIn('worker:x:1001:1002:::')).toEqual({ ...WORKER, home: '/', shell: '/bin/sh' });
});

test.each(['', 'worker', 'worker:x:many:1002::/:', 'worker:x:1001:1002::/'])(
  '%j is not the entry of a user',
  (line) => {
    expect(hostUserIn(line)).toBeNull();
  },
);

test.runIf(process.platform === 'linux')('users of the host are found, and no others', () => {
  expect(findHostUser('root')).toMatchObject({ name: 'root', uid: 0, gid: 0 });
  expect(findHostUser('no-such-user')).toBeNull();
});

test('an agent gets its own user’s home, and no folder of the runtime’s user', () => {
  const others = {
    XDG_RUNTIME_DIR: '/run/user/0',
    XDG_CONFIG_HOME: '/root/.config',
    TMPDIR: '/root/tmp',
    PWD: '/root',
  };
  const inherited = {
    PATH: '/bin',
    LANG: 'C',
    HOME: '/root',
    USER: 'root',
    LOGNAME: 'root',
    SHELL: '/bin/sh',
    ...others,
  };
  expect(environmentOfUser(WORKER, inherited)).toEqual({
    PATH: '/bin',
    LANG: 'C',
    HOME: '/home/worker',
    USER: 'worker',
    LOGNAME: 'worker',
    SHELL: '/bin/bash',
  });
});

test('an agent of the runtime’s own user inherits everything that is inherited', () => {
  const inherited = { PATH: '/bin', HOME: '/root', XDG_RUNTIME_DIR: '/run/user/0' };
  expect(environmentOfUser(null, inherited)).toEqual(inherited);
});
