import type { Invocation } from '@vigil/adapters/adapter';
import { expect, test } from 'vitest';
import { clientNamed } from './recordings.fixture.ts';
import { isSilenceKnown, type Surface } from './surface.ts';

const surface = (command: string | null, more: Partial<Surface> = {}): Surface => {
  const client = clientNamed('claude-code');
  const invocations: readonly (Invocation | null)[] = ['claude-code', 'codex', 'gemini-cli'].map((name) => {
    const [program = '', ...args] = (command ?? '').split(' ');
    return clientNamed(name).invocation({ command: program, args });
  });
  const invocation = invocations.find((one) => one !== null) ?? null;
  return {
    view: { lines: [], withoutFaint: [], cursor: { column: 0, row: 0 }, alternate: false },
    bracketedPaste: false,
    mode: { canonical: true, echo: true, opost: true },
    client: invocation === null ? null : { ...client, invocation },
    meaning: { kind: 'unknown' },
    steadyMs: 0,
    ...more,
  };
};

test.each([
  ['claude -p task', false],
  ['claude -p --output-format json task', false],
  ['claude -p --output-format stream-json --verbose task', true],
  ['gemini -p task', false],
  ['gemini -p task -o stream-json', true],
  ['codex exec task', true],
  ['codex exec --json task', true],
  ['./agent.sh', true],
])("the silence of %s, without any report, is the agent's: %s", (command, isKnown) => {
  expect(isSilenceKnown(surface(command), false)).toBe(isKnown);
  expect(isSilenceKnown(surface(command), true)).toBe(true);
});

test('the silence of a program that draws is unknown, with or without a report of its session', () => {
  for (const isReported of [false, true]) {
    expect(isSilenceKnown(surface('claude'), isReported)).toBe(false);
    for (const opost of [false, true])
      expect(isSilenceKnown(surface('./tui', { mode: { canonical: false, echo: false, opost } }), isReported)).toBe(
        false,
      );
  }
});

test('the silence of a command behind a pipe, whose terminal Vigil prepared, is known; that of a question for a password is not', () => {
  const silent = (opost: boolean) => surface('./agent.sh', { mode: { canonical: true, echo: false, opost } });
  expect(isSilenceKnown(silent(false), false)).toBe(true);
  expect(isSilenceKnown(silent(true), false)).toBe(false);
});
