import { connectCodec, Topic } from '@vigil/events';
import { connectLog, silentLogger, writer } from '@vigil/stream';
import type { Written } from './commands/control/options.ts';
import type { directSettings } from './config.ts';
import { CannotProceed } from './errors.ts';

export type FleetControl = 'HALT_FLEET' | 'RESUME_FLEET';

/** Writes a command for the whole fleet to Kafka itself. Throws CannotAsk where Kafka or the registry does not answer. */
export async function writeDirect(
  { brokers, registry }: ReturnType<typeof directSettings>,
  type: FleetControl,
  payload: { readonly by: string; readonly why: string },
): Promise<Written> {
  try {
    const codec = await connectCodec(registry, [Topic.controlFleet]);
    await using log = await connectLog({ brokers, clientId: 'vigil-cli', codec, logger: silentLogger });
    const [eventId = ''] = await writer(log).write([{ topic: Topic.controlFleet, type, key: 'fleet', payload }]);
    return { eventId, topic: Topic.controlFleet, type, key: 'fleet', alsoFor: [] };
  } catch (cause) {
    throw new CannotProceed(`${type} is not written: ${(cause as Error).message}`, { cause });
  }
}
