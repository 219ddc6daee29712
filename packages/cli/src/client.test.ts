import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openReportClient } from './client.ts';

/** A dashboard that answers these paths, and keeps any other question waiting. */
const dashboard = async (viewMs: number, answers: Readonly<Record<string, object>>) => {
  const server = createServer(({ url = '' }, response) => {
    const answer = answers[url];
    if (answer !== undefined) response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { server: 'dashboard', url, token: 'a-token' } as const;
  const client = openReportClient(settings, { viewMs, reportMs: 600_000 });
  return {
    client,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

test('a report waits for its answer while the dashboard answers anything', async () => {
  await using one = await dashboard(600_000, { '/v1/me': {}, '/v1/doctor': { services: [] } });
  expect(await one.client.get('/v1/doctor')).toEqual({ services: [] });
});

test('a dashboard that answers nothing is frozen: the report ends before its own limit, and has since when at the latest', async () => {
  await using one = await dashboard(50, {});
  await expect(one.client.get('/v1/doctor')).rejects.toThrow(
    /^BLIND since \d\d:\d\d:\d\d or before: The dashboard at .* has not answered in time/,
  );
});
