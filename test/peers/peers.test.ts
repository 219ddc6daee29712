import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { answersOf } from './answer.ts';
import { browserUse } from './browser-use.peer.ts';
import { gastown } from './gastown.peer.ts';
import { geminiCli } from './gemini-cli.peer.ts';
import { hive } from './hive.peer.ts';
import { omniclaude } from './omniclaude.peer.ts';
import { openclaw } from './openclaw.peer.ts';
import { openhands } from './openhands.peer.ts';
import { openhandsSdk } from './openhands-sdk.peer.ts';
import { pageOf } from './page.ts';
import type { Suite } from './peer.ts';
import { roo } from './roo.peer.ts';

const suites: readonly Suite[] = [
  openclaw,
  openhands,
  openhandsSdk,
  geminiCli,
  roo,
  browserUse,
  hive,
  gastown,
  omniclaude,
];
const answered = suites.map((suite) => ({ suite, answers: answersOf(suite) }));

describe.each(answered)('$suite.name', ({ answers }) => {
  test.each(answers)('$name', ({ agrees, differs, theirs, ours }) => {
    if (differs === null) expect(ours, `they have ${theirs}, and no reason to differ is given`).toSatisfy(() => agrees);
    else expect(agrees, `a reason to differ is given, but both have ${theirs}: take it out`).toBe(false);
  });
});

test('docs/peers.md has the result of this run; deleted, it is written again', async () => {
  await expect(pageOf(answered)).toMatchFileSnapshot(path.resolve(import.meta.dirname, '../../docs/peers.md'));
});
