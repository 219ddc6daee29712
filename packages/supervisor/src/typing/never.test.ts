import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AgentScreen } from '../screen/agent-screen.ts';
import { noEmulatorMemory } from '../screen/emulator.ts';
import { clientNamed, isKey, type Recording, recordings } from '../screen/recordings.fixture.ts';
import { decideTyping, type SessionFacts } from './decide.ts';

/** The short form draws the same sessions each time, the long form others. */
const drawn = process.env.VIGIL_SOAK === undefined ? 20_261_123 : Date.now() % 1_000_000;
const seed = Number(process.env.VIGIL_SEED ?? drawn);
const runs = process.env.VIGIL_SOAK === undefined ? 15 : 150;

const anySession: fc.Arbitrary<SessionFacts> = fc.record({
  turnOpen: fc.constantFrom(null, true, false),
  waitingFor: fc.constantFrom(null, 'permission' as const, 'question' as const, 'prompt' as const),
});

/** `cuts`: where a chunk of output is cut, as shares of it; `looks`: when an order arrives, in seconds after a chunk. */
const anyWay = fc.record({
  recording: fc.constantFrom(...recordings),
  pace: fc.double({ min: 0.5, max: 1.2, noNaN: true }),
  cuts: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 40 }),
  looks: fc.array(fc.double({ min: 0, max: 4, noNaN: true }), { minLength: 1, maxLength: 40 }),
  session: anySession,
  text: fc.string({ unit: 'binary', maxLength: 300 }),
});
type Way = typeof anyWay extends fc.Arbitrary<infer W> ? W : never;

const screenOf = ({ client, columns, rows }: Recording): AgentScreen => {
  const known = {
    ...clientNamed(client),
    invocation: { headless: false, streamsEvents: false, printsProgress: false },
  };
  const mode = { canonical: false, echo: false, opost: false };
  return new AgentScreen(known, { columns, rows }, noEmulatorMemory, async () => mode, 0);
};

/** What the rule decides at each look, and whether a dialog stands on the screen then. */
const decisionsOf = async ({ recording, pace, cuts, looks, session }: Way) => {
  const screen = screenOf(recording);
  const decisions: { readonly asks: boolean; readonly kind: string; readonly at: number }[] = [];
  let asks = false;
  const look = async (seconds: number): Promise<void> => {
    await screen.drawn;
    const surface = await screen.fresh(() => 1000 * seconds);
    decisions.push({ asks, kind: decideTyping(surface, session).kind, at: seconds / pace });
  };
  for (const [index, [recorded, kind, data]] of recording.entries.entries()) {
    const seconds = recorded * pace;
    const until = (recording.entries[index + 1]?.[0] ?? recorded + 60) * pace;
    if (kind === 'i' && isKey(data)) asks = false;
    if (kind === 'm') asks = data.startsWith('dialog: ');
    if (kind === 'o') {
      const bytes = Buffer.from(data);
      const cut = Math.floor(bytes.length * (cuts[index % cuts.length] ?? 0));
      screen.write(bytes.subarray(0, cut));
      await look(seconds);
      screen.write(bytes.subarray(cut));
    }
    const after = seconds + (looks[index % looks.length] ?? 0);
    if (after < until) await look(after);
  }
  await look((recording.entries.at(-1)?.[0] ?? 0) * pace + 3600);
  return decisions;
};

test(
  `nothing is typed while a dialog stands on the screen, however its output is cut and whenever an order arrives (VIGIL_SEED=${seed})`,
  async () => {
    let whileAsking = 0;
    await fc.assert(
      fc.asyncProperty(anyWay, async (way) => {
        const decisions = await decisionsOf(way);
        whileAsking += decisions.filter(({ asks }) => asks).length;
        expect(decisions.filter(({ asks, kind }) => asks && kind !== 'wait')).toEqual([]);
        const { text } = clientNamed(way.recording.client).typed(way.text);
        const [before, pasted, ...after] = text.split('\u001b');
        expect([before, pasted?.startsWith('[200~'), after]).toEqual(['', true, ['[201~']]);
        expect(pasted?.slice('[200~'.length)).not.toMatch(/\p{Cc}/u);
      }),
      { seed, numRuns: runs },
    );
    expect(whileAsking).toBeGreaterThan(runs);
  },
  20_000 * runs,
);
