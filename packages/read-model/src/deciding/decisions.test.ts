import { expect, test } from 'vitest';
import { caseDecisionText, reviewText } from './decisions.ts';

test.each(['retry', 'reset', 'abandon'])(
  'the decision %s of a review is explained by what happens to the task',
  (one) => {
    expect(reviewText(one, 'T-1')).toMatch(/T-1.*\.$/);
  },
);

test.each(['allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon'])(
  'the decision %s of a case is explained by what happens to the agent',
  (one) => expect(caseDecisionText(one, 'worker-1')).toMatch(/worker-1.*\.$/),
);

test('a decision of a newer version has no sentence, nor has the name of a property of objects', () => {
  expect(reviewText('postpone', 'T-1')).toBeNull();
  expect(caseDecisionText('toString', 'worker-1')).toBeNull();
});
