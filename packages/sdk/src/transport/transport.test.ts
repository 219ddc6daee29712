import { afterAll, describe, expect, test, vi } from 'vitest';
import { gatewaySide, socketSide } from './servers.fixture.ts';
import { transportContract } from './transport.contract.ts';

const gateway = await gatewaySide();
const socket = await socketSide();
afterAll(() => Promise.all([gateway.close(), socket.close()]));

describe('over the gateway', () => {
  transportContract(gateway);

  test('a word that was passed on is receipted', async () => {
    await vi.waitUntil(() => gateway.receipts.length > 0);
    expect(gateway.receipts).toMatchObject([
      { type: 'ORDER_RECEIPT', payload: { orderId: 'o-hears', outcome: 'delivered', runtimeId: 'hears' } },
    ]);
  });
});

describe('over the socket of its supervisor', () => {
  transportContract(socket);
});
