import { expect, test } from 'vitest';
import { fleetRow, VIEW } from '../rows.fixture.ts';
import { doctorLines, hangingLines, isWell } from './doctor.ts';

test('each transaction that hangs is shown with the command that ends it, at the place where readers stand', () => {
  const hanging = [
    { topic: 'a', partition: 0, stableEnd: 7, end: 9, forMs: 25_000 },
    { topic: 'b', partition: 3, stableEnd: 1, end: 4, forMs: 25_000 },
  ];
  const lines = hangingLines(VIEW, hanging, ['k1:9092', 'k2:9092']);
  expect(lines).toContain('BAD  a/0 stands at 7 of 9 for 25 s');
  const commands = lines.filter((line) => line.includes(' abort '));
  expect(commands).toEqual([
    '  kafka-transactions.sh --bootstrap-server k1:9092,k2:9092 abort --topic a --partition 0 --start-offset 7',
    '  kafka-transactions.sh --bootstrap-server k1:9092,k2:9092 abort --topic b --partition 3 --start-offset 1',
  ]);
});

test('without a hanging transaction there is no advice', () =>
  expect(hangingLines(VIEW, [], ['k'])).toEqual(['No transaction hangs.']));

test('a transaction that hangs is not well, and the doctor names its place and the command', () => {
  const well = {
    services: [],
    time: [],
    lag: [],
    duplicates: [],
    hanging: [],
    replayFrom: null,
    unknown: [],
    sweeps: [],
    fleet: fleetRow(),
  };
  const ill = { ...well, hanging: [{ topic: 't', partition: 2, stableEnd: 7, end: 9, forMs: 25_000 }] };
  expect([isWell(well), isWell(ill)]).toEqual([true, false]);
  expect(doctorLines(VIEW, ill)).toContain('BAD  t/2: a transaction hangs at 7 of 9 for 25 s: vigil transactions');
});
