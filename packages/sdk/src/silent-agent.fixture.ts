import { connect, overGateway, overSocket } from './index.ts';

/** A process whose work is done at once. Arguments: a transport, its address, and whether it closes. */
const [way = '', address = '', close = ''] = process.argv.slice(2);
const over = way === 'socket' ? overSocket(address) : overGateway({ url: address, token: 't' });
const vigil = connect({ agentId: 'worker-1', over, onProblem: () => {} });
await vigil.call({ tool: 'Read' }, () => 'done');
await new Promise((resolve) => setTimeout(resolve, 50));
if (close === 'close') await vigil.close({ withinMs: 300 });
process.stdout.write('done');
