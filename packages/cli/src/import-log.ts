import { memoryCodec, registerSchema, registryFrom } from '@vigil/events';
import { connectLog, kafkaFrom, silentLogger, type TransferOptions, type Transferred } from '@vigil/stream';
import type { KafkaSettings, RegistrySettings } from './config.ts';
import { CannotProceed } from './errors.ts';
import { transferFileLog } from './file-log.ts';

/** Writes an exported log to Kafka. Throws CannotProceed. */
export const importInto = async (
  { kafka, registry }: { readonly kafka: KafkaSettings; readonly registry: RegistrySettings },
  file: string,
  options: Omit<TransferOptions, 'register'>,
): Promise<Transferred> => {
  const access = registryFrom(registry);
  try {
    // The bytes of events are copied, so no codec is used.
    const codec = memoryCodec();
    await using log = await connectLog({ kafka: kafkaFrom(kafka), clientId: 'vigil-cli', codec, logger: silentLogger });
    const register = (subject: string, json: string) => registerSchema(access, subject, json);
    return await transferFileLog(file, log, { ...options, register });
  } catch (cause) {
    throw new CannotProceed(`${file} is not imported: ${(cause as Error).message}`, { cause });
  }
};
