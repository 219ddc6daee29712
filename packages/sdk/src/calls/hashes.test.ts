import fc from 'fast-check';
import { expect, test } from 'vitest';
import { argsHash, hashes, maskedResultHash, NORMALISER, normalise, resultHash } from './hashes.ts';

test('the order of fields, and fields without a value, make no difference', () => {
  expect(argsHash({ a: 1, b: [true, null] })).toBe(argsHash({ b: [true, null], c: undefined, a: 1 }));
  expect(argsHash([1, 2])).not.toBe(argsHash([2, 1]));
  expect(argsHash('1')).not.toBe(argsHash(1));
});

test('other versions and machines compute these hashes of the same values', () => {
  expect(hashes({ args: { path: 'a.ts' }, result: 'read 12 lines', failed: false, endedAt: null })).toEqual({
    args_hash: 'a9:26da85158febffab6d2ff298a631b624',
    result_hash: 'r9:e91e5e281c2c8469122b90af754e3e77',
    masked_result_hash: 'm9:171fb985beba1b23acd8641336a3f362',
  });
});

test('every hash names the version that made it', () => {
  for (const hash of Object.values(hashes({ args: 1, result: 2, failed: false, endedAt: null })))
    expect(hash?.slice(1)).toMatch(`${NORMALISER}:`);
});

/** Pairs of answers of one call: whether they are the same for a success, for a failure, and without figures. */
type Alike = { readonly ok: boolean; readonly failed: boolean; readonly masked: boolean };
const always: Alike = { ok: true, failed: true, masked: true };
const ofFailure: Alike = { ok: false, failed: true, masked: true };
const inWords: Alike = { ok: false, failed: false, masked: true };
const never: Alike = { ok: false, failed: false, masked: false };
const answers: readonly (readonly [string, string, Alike])[] = [
  ['took 3 ms', 'took 7 ms', always],
  ['done in 3.5s', 'done in 12.25s', always],
  ['2026-11-26T07:00:00Z ready', '2026-11-26 08:10:11.5 ready', always],
  ['Thu Nov 26 07:00:01 UTC', 'Thu Nov 26 07:00:09 UTC', always],
  ['at 1795676420', 'at 1795676999', always],
  ['pid 4711 waits', 'pid 4712 waits', always],
  ['refused by 127.0.0.1:4312', 'refused by 127.0.0.1:4313', always],
  ['object 0x7f3a', 'object 0x81b2', always],
  ['commit 3f2a91c', 'commit 77be012', always],
  ['id 0a1b2c3d-0000-4000-8000-000000000001', 'id 0a1b2c3d-0000-4000-8000-000000000002', always],
  ['wrote /tmp/x8f2/out', 'wrote /tmp/k2j1/out', always],
  ['"created_at":1795676420', '"created_at":1795676999', always],
  ['"createdAt": 1795676420', '"createdAt": 1795676999', always],
  ['1795676420.25 ready', '1795676999.5 ready', always],
  ['1795676420123 ready', '1795676999456 ready', always],
  ['"id":"0a1b2c3d-0000-4000-8000-000000000001"', '"id":"0a1b2c3d-0000-4000-8000-000000000002"', always],
  ['2026-11-26T07:00:00+01:00 ready', '2026-11-26T08:10:11-05:00 ready', always],
  ['20261126T070000Z ready', '20261126T081011Z ready', always],
  ['Thu, 26 Nov 2026 07:00:01 +0000', 'Fri, 27 Nov 2026 08:10:11 +0000', always],
  ['-rw-r--r-- 1 a a 12 Nov 26 07:00 a.ts', '-rw-r--r-- 1 a a 12 Nov 26 08:11 a.ts', always],
  ['26/Nov/2026:07:00:01 +0000 GET /', '26/Nov/2026:08:10:11 +0000 GET /', always],
  ['ts=1795676420 ready', 'ts=1795676999 ready', always],
  ['updated_at: 1795676420', 'updated_at: 1795676999', always],
  ['epoch 1795676420 ready', 'epoch 1795676999 ready', always],
  ['Ran all tests in 3.42s', 'Ran all tests in 3.97s', always],
  ['took 120 ms', 'took 98 ms', always],
  ['real\t0m1.234s', 'real\t0m1.310s', always],
  ['built in 1m 30s', 'built in 1m 42s', always],
  ['duration: 0.034', 'duration: 0.041', always],
  ['id 01ARZ3NDEKTSV4RRFFQ69G5FAV', 'id 01BX5ZZKBKACTAV9WEVGEMMVRZ', always],
  ['request_id=f8Zk2Q1x', 'request_id=p9Lm7R3y', always],
  ['started run_8f3k2m1qz', 'started run_1p9l7r3yx', always],
  ['PID: 4711', 'PID: 4712', always],
  ['[1] 4711', '[1] 4712', always],
  ['listening on http://localhost:43121/', 'listening on http://localhost:43977/', always],
  ['port=43121', 'port=43977', always],
  ['[::1]:43121 refused', '[::1]:43977 refused', always],
  ['/tmp/tmp.AbCdEfGhIj/log', '/tmp/tmp.KlMnOpQrSt/log', always],
  ['/var/tmp/build.qWeRtY/a.o', '/var/tmp/build.ZxCvBn/a.o', always],
  ['/tmp/build-abcdef1/x', '/tmp/build-qwertz1/x', always],
  ['/tmp/pytest-of-a/pytest-12/test_x0/out', '/tmp/pytest-of-a/pytest-13/test_x0/out', always],
  ['[main 3f2a91c] fix', '[main 1234567] fix', always],
  ['commit 1234567', 'commit 7654321', always],
  ['app[11344]: permission denied', 'app[3393]: permission denied', always],
  ['rows[12]: no name', 'rows[13]: no name', inWords],
  ['see _logs/2026-11-20T09_00_04_023Z-debug-0.log', 'see _logs/2026-11-20T09_01_14_123Z-debug-0.log', always],
  ['saved run-2026-11-20T09-00-04.log', 'saved run-2026-11-20T09-01-14.log', always],
  ['Using --randomly-seed=3301845612', 'Using --randomly-seed=914410227', always],
  ['Randomized with seed 29485', 'Randomized with seed 104', always],
  ['"random_seed": 412', '"random_seed": 97653', always],
  ['seed 3: 0.91', 'seed 4: 0.91', inWords],
  [
    'denied. HostId: ZT9rNwtvM8tkpGDCqaNvY2eeuUZF3dFbA4kDPcnD5MF=',
    'denied. HostId: 7BEqJSqnzVQBtE78Zkk/sYaW3XVvU6r6Ssxc+tZY4zq=',
    always,
  ],
  [`picture ${'ZT9rNwtvM8tkpGDCqaNv'.repeat(6)}`, `picture ${'7BEqJSqnzVQBtE78ZkkK'.repeat(6)}`, never],
  ['next_token: ZT9rNwtvM8tkpGDCqaNvY2', 'next_token: 7BEqJSqnzVQBtE78ZkkKsY', never],
  ['fail testParserHandlesUtf8Input', 'fail testWriterHandlesUtf8Input', never],
  ['fail packages/Health2/src/FileReader.ts', 'fail packages/Health2/src/FileWriter.ts', never],
  ['pod api-7d9f8b6c5-x2x7k crashed', 'pod api-7d9f8b6c5-q9zvm crashed', always],
  ['pod api-7d9f8b6c5-x2x7k crashed', 'pod web-7d9f8b6c5-x2x7k crashed', never],
  ['job web-release2-build', 'job web-release2-check', never],
  ['fail /tmp/work/a.test.ts', 'fail /tmp/work/b.test.ts', never],
  ['wrote /tmp/out/part-12.csv', 'wrote /tmp/out/part-13.csv', inWords],
  ['34 s of 120 s', '41 s of 120 s', inWords],
  ['{"id":"0a1b2c3d-0000-4000-8000-000000000001"}', '{"id":"0a1b2c3d-0000-4000-8000-000000000002"}', always],
  ['{"b":1,"a":"x"}', '{ "a": "x", "b": 1 }', always],
  ['{"pid":4711,"state":"up"}', '{"pid":4712,"state":"up"}', always],
  ['{"ts_ms":1795676420123}', '{"ts_ms":1795676999456}', always],
  ['{"eta":"300 s"}', '{"eta":"240 s"}', inWords],
  ['{"next":"/items?after=abcdef1"}', '{"next":"/items?after=abcdef2"}', inWords],
  ['{"page_token":"0a1b2c3d4e"}', '{"page_token":"0a1b2c3d5f"}', inWords],
  ['{"nextPageToken":"CAUQAA"}', '{"nextPageToken":"CAoQBB"}', never],
  ['{"offset":100}', '{"offset":200}', inWords],
  ['offset=100 cursor=0a1b2c3d4e', 'offset=100 cursor=0a1b2c3d5f', inWords],
  ['[{"id":"0a1b2c3d-0000-4000-8000-000000000001"}]', '[{"id":"0a1b2c3d-0000-4000-8000-000000000002"}]', inWords],
  [
    '{"errors":[{"id":"0a1b2c3d-0000-4000-8000-000000000001","title":"No"}]}',
    '{"errors":[{"id":"0a1b2c3d-0000-4000-8000-000000000002","title":"No"}]}',
    always,
  ],
  ['{"errors":[{"id":"no-semicolon"}]}', '{"errors":[{"id":"no-spaces"}]}', never],
  [
    '{"errors":[],"items":[{"id":"0a1b2c3d-0000-4000-8000-000000000001"}]}',
    '{"errors":[],"items":[{"id":"0a1b2c3d-0000-4000-8000-000000000002"}]}',
    inWords,
  ],
  ['[{"sha":"3f2a91c"},{"sha":"77be012"}]', '[{"sha":"3f2a91c"},{"sha":"81c0aa4"}]', inWords],
  ['Exit code 1\n{"requestId":"abcdefgh","ok":false}', 'Exit code 1\n{"requestId":"ijklmnop","ok":false}', always],
  ['{"a":1,"took":3}\n{"a":2,"took":4}\n', '{"a":1,"took":5}\n{"a":2,"took":6}\n', always],
  ['{"a":1,"took":3}\n{"a":2,"took":4}\n', '{"a":1,"took":3}\n{"a":3,"took":4}\n', inWords],
  ['duration_ms: 12', 'duration_ms: 45', always],
  ['[{"request_id":"r-1","name":"a"}]', '[{"request_id":"r-2","name":"a"}]', always],
  ['1700000000 out.bin', '1800000000 out.bin', inWords],
  ['ETA 300 s', 'ETA 240 s', inWords],
  ['ETA 0:03:20', 'ETA 0:02:10', inWords],
  ['eta: 3.5 s', 'eta: 3.1 s', inWords],
  ['20 s left', '10 s left', inWords],
  ['processed up to 2024-01-10', 'processed up to 2024-01-11', inWords],
  ['process 3 of 40 done', 'process 13 of 40 done', inWords],
  ['process 30 of 40 done', 'process 31 of 40 done', inWords],
  ['{"numFailedTests":9}', '{"numFailedTests":7}', inWords],
  ['failures:9', 'failures:7', inWords],
  [
    '"next_cursor":"1a1b2c3d-0000-4000-8000-00000000000c"',
    '"next_cursor":"2a1b2c3d-0000-4000-8000-00000000000c"',
    inWords,
  ],
  ['a.ts:12:5 unexpected', 'a.ts:14:9 unexpected', ofFailure],
  ['error at line 12', 'error at line 13', ofFailure],
  ['attempt 2 failed', 'attempt 3 failed', always],
  ['attempt 2 of 9', 'attempt 3 of 9', ofFailure],
  ['{"poll_ts":1795676420}', '{"poll_ts":1795676999}', always],
  ['{"bytes":1795676420}', '{"bytes":1795676999}', inWords],
  ['{"retry_count":1}', '{"retry_count":2}', always],
  ['epoch 1/50 loss 0.91', 'epoch 2/50 loss 0.88', inWords],
  ['9 failed, 3 passed', '2 failed, 10 passed', inWords],
  ['40 %', '41 %', inWords],
  ['120 out.csv', '340 out.csv', inWords],
  ['page 3 of 9', 'page 4 of 9', inWords],
  ['no such file a.ts', 'no such file b.ts', never],
  ['dead beef', 'dead meat', never],
];

test.each(answers)('are %j and %j the same answer? %j', (one, other, alike) => {
  expect(resultHash(one, false, null) === resultHash(other, false, null)).toBe(alike.ok);
  expect(resultHash(one, true, null) === resultHash(other, true, null)).toBe(alike.failed);
  expect(maskedResultHash(one) === maskedResultHash(other)).toBe(alike.masked);
  expect(argsHash(one)).not.toBe(argsHash(other));
});

test('volatile fields of a result are left out, other numbers stay', () => {
  const at = (n: number, left: number) => ({ 'request-id': `request ${n}`, duration_ms: n, left });
  expect(resultHash(at(3, 1), false, null)).toBe(resultHash(at(7, 1), false, null));
  expect(resultHash(at(3, 1), false, null)).not.toBe(resultHash(at(3, 2), false, null));
  expect(maskedResultHash(at(3, 1))).toBe(maskedResultHash(at(3, 2)));
  expect(argsHash(at(3, 1))).not.toBe(argsHash(at(7, 1)));
});

const resultOf = (value: unknown) => resultHash(value, false, null);

test('a limit of time does not make another call of a command, as it does of any other tool', () => {
  const shell = (command: string, timeout: object) => argsHash({ command, ...timeout });
  expect(shell('./run.sh', { timeout_ms: 10_300 })).toBe(shell('./run.sh', { timeout_ms: 11_200 }));
  expect(shell('./run.sh', { timeout: 10_300 })).toBe(shell('./run.sh', {}));
  expect(shell('./run.sh', { timeout: 5 })).not.toBe(shell('./run.sh 5', { timeout: 5 }));
  expect(argsHash({ url: 'a', timeout: 5 })).not.toBe(argsHash({ url: 'a', timeout: 6 }));
});

test('the words that explain a command do not make another call, those of any other tool do', () => {
  const bash = (description: string, command = 'ls') => argsHash({ command, description, timeout: 5 });
  expect(bash('List the files')).toBe(bash('See what is there'));
  expect(bash('List the files')).not.toBe(bash('List the files', 'ls -a'));
  const issue = (description: string) => argsHash({ title: 'Bug', description });
  expect(issue('It fails')).not.toBe(issue('It hangs'));
});

test('a missing value is unknown and never compared', () => {
  expect(hashes({ failed: false, endedAt: null })).toEqual({
    args_hash: null,
    result_hash: null,
    masked_result_hash: null,
  });
  expect(resultOf(null)).not.toBeNull();
});

test('a value of any size is compared', () => {
  const long = (end: string) => `${'x'.repeat(2 << 20)}${end}`;
  const wide = (end: number) => [...Array.from({ length: 60_000 }, () => 1), end];
  for (const hash of [argsHash, resultOf, maskedResultHash]) {
    expect(hash({ content: long('a') })).toBe(hash({ content: long('a') }));
    expect(hash({ content: long('a') })).not.toBe(hash({ content: long('b') }));
    expect(hash(wide(1))).toBe(hash(wide(1)));
    expect(hash(wide(1))).not.toBe(hash(wide(2)));
    expect(hash(Buffer.alloc(3 << 20, 1))).not.toBe(hash(Buffer.alloc(3 << 20, 2)));
  }
});

test('cycles, bytes, errors, dates, maps and unreadable fields have a hash too', () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle.self = circle;
  expect(normalise(circle, false, null)).toBe('{"a":1,"self":"[circular]"}');
  const shared = { x: 'y' };
  expect(normalise([shared, shared], false, null)).toBe('[{"x":"y"},{"x":"y"}]');
  expect(resultOf(new Error('boom'))).not.toBe(resultOf(new Error('bang')));
  expect(resultOf(Buffer.from('a'))).not.toBe(resultOf(Buffer.from('b')));
  expect(resultOf(new Map([['a', 1]]))).not.toBe(resultOf(new Map([['a', 2]])));
  expect(resultOf(new Date(5))).toBe(resultOf('1970-01-01T00:00:00.005Z'));
  expect(resultOf(12n)).toBe(resultOf(12));
  const thorny = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => {
      throw new Error('no');
    },
  });
  expect(normalise(thorny, false, null)).toBe('{"x":"[unreadable]"}');
  let deep: unknown = 1;
  for (let n = 0; n < 100_000; n += 1) deep = [deep];
  expect(resultOf(deep)).toBeNull();
});

test('hashing never throws, and gives the same hash again', () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
      (value) => {
        expect(hashes({ args: value, result: value, failed: false, endedAt: null })).toEqual(
          hashes({ args: value, result: value, failed: false, endedAt: null }),
        );
      },
    ),
  );
});
