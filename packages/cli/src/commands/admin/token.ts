import { gatewayToken } from '@vigil/events/gateway-token';
import { Argument, type Command } from 'commander';
import { gatewaySecret } from '../../config.ts';
import { CannotProceed } from '../../errors.ts';

const EXAMPLES = `
The token derives from VIGIL_GATEWAY_SECRET, the gateway's secret; no server is needed. Give it to the runtime or agent as VIGIL_GATEWAY_TOKEN.

Example:
  VIGIL_GATEWAY_SECRET=… vigil token runtime build-7`;

export const register = (program: Command): void => {
  program
    .command('token')
    .description('print a token for the gateway that is valid for one runtime or agent only')
    .addArgument(new Argument('<kind>').choices(['runtime', 'agent']))
    .argument('<name>', 'the runtime or agent')
    .addHelpText('after', EXAMPLES)
    .action(async (kind: 'runtime' | 'agent', name: string) => {
      const { ID, ID_FORM } = await import('@vigil/events');
      if (!ID.test(name)) throw new CannotProceed(`${JSON.stringify(name)} is not a name: give ${ID_FORM}`);
      console.log(gatewayToken(gatewaySecret(process.env), { kind, name }));
    });
};
