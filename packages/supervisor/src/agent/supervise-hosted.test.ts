import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentDeps } from '../deps.ts';
import { identify, isAlive } from '../process/proc.ts';
import { occupantOf } from '../state/lock.ts';
import { scriptSpec, setStage } from '../testing/stage.ts';
import { superviseHosted } from './supervise.ts';

const { execPath } = process;

/** A program in place of Node whose PTY host starts the agent, reports nothing, and is killed when the agent has written its number. */
const lostPtyHost = (path: string, written: string): void => {
  const script = `#!/bin/sh
exec 3<&0
${execPath} "$@" <&3 >/dev/null &
until [ -s ${written} ]; do sleep 0.05; done
kill -9 $!
exit 1
`;
  writeFileSync(path, script);
  chmodSync(path, 0o700);
};

test.runIf(process.platform === 'linux')(
  'an agent whose terminal host has started it and is lost before it reports that is ended, and its name is free again',
  async () => {
    const stage = await setStage();
    const written = join(stage.dir, 'agent-pid');
    lostPtyHost(join(stage.dir, 'node'), written);
    const deps: AgentDeps = { ...stage.deps, killAfterMs: 200, onOrders: () => {} };
    const spec = scriptSpec(`trap '' HUP; echo $$ > ${written}; exec sleep 600`);
    process.execPath = join(stage.dir, 'node');
    try {
      await expect(superviseHosted(spec, deps, { columns: 80, rows: 24 })).rejects.toThrow('ended at once (code 1)');
      const agent = identify(Number(readFileSync(written, 'utf8')));
      const isLeft = isAlive(agent);
      if (isLeft) process.kill(agent.pid, 'SIGKILL');
      expect(isLeft).toBe(false);
      expect(occupantOf(stage.dir, spec.agentId)).toBeNull();
    } finally {
      process.execPath = execPath;
      await stage.close();
    }
  },
);
