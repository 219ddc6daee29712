/** Type stripping is stable and silent from here on. */
export const MIN_NODE = [24, 12, 0];

/** `process.getBuiltinModule` exists from here on, and commander needs 20. */
const MIN_NODE_OF_CLIENTS = [20, 16, 0];

const isAtLeast = (version) => {
  const have = process.versions.node.split('.').map(Number);
  const first = version.findIndex((wanted, index) => have[index] !== wanted);
  return first === -1 || have[first] > version[first];
};

/** Whether the Node of this process runs all of Vigil. */
export const isRecent = () => isAtLeast(MIN_NODE);

/** Whether the Node of this process runs a command; `node` is `any` for one that only asks a server. */
export const runsOn = (node) => isRecent() || (node === 'any' && isAtLeast(MIN_NODE_OF_CLIENTS));
