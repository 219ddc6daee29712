import { adapters } from '@vigil/adapters';
import { expect, test } from 'vitest';
import { resumptionOf } from './client-control.ts';

const programs = { 'claude-code': 'claude', codex: 'codex', 'gemini-cli': 'gemini' };

test.each(Object.entries(programs))('%s: a session is not resumed where its id would be an option', (name, command) => {
  const resumed = (session_id: string) =>
    resumptionOf(adapters, { command, args: [] }, { name, session_id }, 'Go on.').kind;
  for (const id of ['--dangerously-skip-permissions', '--yolo', '-c', '../s', 'a b', 'a\nb', 'x'.repeat(201)])
    expect([id, resumed(id)]).toEqual([id, 'impossible']);
  expect(resumed('0199a3f2-4c5d-7e6f-8a9b-0c1d2e3f4a5b')).toBe('command');
});
