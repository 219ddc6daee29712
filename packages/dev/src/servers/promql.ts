import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** A metric that an expression selects. `matchers`: its labels, with the text of the value. */
export type Selector = {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
};

/** What an expression of PromQL uses. `labels`: those that it groups, joins or sums by. */
export type PromQl = { readonly selectors: readonly Selector[]; readonly labels: readonly string[] };

/** Parses an expression. Throws an Error that names the place of a mistake. */
export const parsePromQl = (expression: string): PromQl => {
  const selectors: Selector[] = [];
  const labels: string[] = [];
  const textOf = (node: SyntaxNode | null) => (node === null ? '' : expression.slice(node.from, node.to));
  parser.parse(expression).iterate({
    enter: ({ type, from, node }) => {
      if (type.isError) throw new Error(`${expression}: a mistake at character ${from + 1}`);
      if (type.name === 'GroupingLabels') labels.push(...node.getChildren('LabelName').map(textOf));
      if (type.name !== 'VectorSelector') return;
      const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
      selectors.push({
        metric: textOf(node.getChild('Identifier')),
        matchers: matchers.map((matcher) => ({
          label: textOf(matcher.getChild('LabelName')),
          operator: textOf(matcher.getChild('MatchOp')),
          value: textOf(matcher.getChild('StringLiteral')).slice(1, -1),
        })),
      });
    },
  });
  return { selectors, labels };
};
