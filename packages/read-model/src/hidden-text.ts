/** Letters of scripts that do not join: a joiner between them only hides. */
const UNJOINED = String.raw`[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}]`;
const JOINED = String.raw`(?!${UNJOINED})[\p{L}\p{M}]`;
const PICTURE = String.raw`\p{Extended_Pictographic}`;
/** A joiner shapes the text if it is within a word of a script that joins its letters, or within an emoji. */
const SHAPING = String.raw`(?:(?<=${JOINED})[\u200c\u200d](?=${JOINED})|(?<=${PICTURE}[\ufe0f\p{Emoji_Modifier}]*)\u200d(?=${PICTURE}))`;

/** Characters without a width that do not shape the text beside them. Two texts that differ only by these look the same. */
const HIDDEN = new RegExp(String.raw`(?!${SHAPING})[\u200b-\u200d\u2060\ufeff]`, 'gu');

/** A text of an agent in which each hidden character is replaced by what `mark` gives. */
export const markHidden = (text: string, mark: (hidden: string) => string = () => '\uFFFD'): string =>
  text.replaceAll(HIDDEN, mark);
