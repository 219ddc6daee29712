import type { TextlintKernelRule } from '@textlint/kernel';
import { SentenceSplitterSyntax, split } from 'sentence-splitter';
import { StringSource } from 'textlint-util-to-string';

type Node = ConstructorParameters<typeof StringSource>[0];

/** The text of a paragraph or a cell. Inline code is one word, however long. */
const sourceOf = (node: Node): StringSource =>
  new StringSource(node, { replacer: ({ node, maskValue }) => (node.type === 'Code' ? maskValue('X') : undefined) });

const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/**
 * A textlint rule: reports a sentence above `max` words in a paragraph, a list item or a cell of a table. The published
 * rules count characters, or leave tables out.
 */
export const sentenceLength = (max: number): TextlintKernelRule['rule'] => {
  const rule: TextlintKernelRule['rule'] = ({ Syntax, RuleError, report, locator }) => {
    const check = (node: Parameters<typeof report>[0]): void => {
      const source = sourceOf(node as Node);
      for (const { type, raw, range } of split(source.toString())) {
        const count = countWords(raw);
        if (type !== SentenceSplitterSyntax.Sentence || count <= max) continue;
        const padding = locator.at(source.originalIndexFromIndex(range[0]) ?? 0);
        const message = `divide this sentence of ${count} words, the limit is ${max}: ${raw.slice(0, 60)}…`;
        report(node, new RuleError(message, { padding }));
      }
    };
    return { [Syntax.Paragraph]: check, [Syntax.TableCell]: check };
  };
  return rule;
};
