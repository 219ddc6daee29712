/** Type stripping is stable and silent from here on. */
export const MIN_NODE = [24, 12, 0];

export const isRecent = () => {
  const have = process.versions.node.split('.').map(Number);
  const first = MIN_NODE.findIndex((wanted, index) => have[index] !== wanted);
  return first === -1 || have[first] > MIN_NODE[first];
};
