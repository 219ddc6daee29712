/** Signs with which a prompt of a client is a command to it: `!` runs a shell command without a permission, `/exit` ends the client. */
const commandSign = /^[/!#@&$?%:\\]/;

/** A text as a prompt that reaches the model: without control characters, and never a command to the client. */
export const asPrompt = (text: string): string => {
  const trimmed = text.replace(/(?![\n\t])\p{Cc}/gu, ' ').trim();
  return commandSign.test(trimmed) ? `Vigil: ${trimmed}` : trimmed;
};
