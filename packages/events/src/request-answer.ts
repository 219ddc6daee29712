import type { AnswerRefusal, QuestionAnswer, RequestQuestion } from './generated/types.ts';

/** What an answer to a question is compared with. */
export type AskedQuestion = Pick<RequestQuestion, 'name' | 'isMultiple'> & { readonly labels: readonly string[] };

/** A question without what only people read. */
export const askedQuestion = ({ name, isMultiple, options }: RequestQuestion): AskedQuestion => ({
  name,
  isMultiple,
  labels: options.map(({ label }) => label),
});

/** Why answers change nothing. `detail`: with the question and the value, as the end of a sentence */
export type AnswerMistake = {
  readonly reason: Extract<
    AnswerRefusal,
    'unknown_question' | 'incomplete_answer' | 'no_such_option' | 'too_many_labels'
  >;
  readonly detail: string;
};

const quoted = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(', ');

const textOf = ({ text }: QuestionAnswer): string => text?.trim() ?? '';

const repeated = (texts: readonly string[]): string | undefined =>
  texts.find((text, index) => texts.indexOf(text) !== index);

const mistakeInOne = (
  { name, isMultiple, labels }: AskedQuestion,
  answer: QuestionAnswer | undefined,
): AnswerMistake | null => {
  const values = answer === undefined ? [] : [...answer.labels, ...(textOf(answer) === '' ? [] : [textOf(answer)])];
  if (answer === undefined || values.length === 0) {
    const use =
      labels.length === 0 ? 'a text' : `${isMultiple ? 'one or more' : 'one'} of ${quoted(labels)}, or a text`;
    return { reason: 'incomplete_answer', detail: `"${name}" has no answer: give ${use}` };
  }
  const unknown = answer.labels.find((label) => !labels.includes(label));
  if (unknown !== undefined)
    return {
      reason: 'no_such_option',
      detail: `"${name}": ${JSON.stringify(unknown)} is not one of ${quoted(labels)}; give other words as its text`,
    };
  if (!isMultiple && values.length > 1)
    return { reason: 'too_many_labels', detail: `"${name}" takes one answer, and has ${quoted(values)}` };
  const twice = repeated(answer.labels);
  return twice === undefined
    ? null
    : { reason: 'too_many_labels', detail: `"${name}" has ${JSON.stringify(twice)} twice` };
};

/** Why these answers do not answer the questions; null: each question has a valid answer. */
export const mistakeInAnswers = (
  questions: readonly AskedQuestion[],
  answers: readonly QuestionAnswer[],
): AnswerMistake | null => {
  const names = questions.map(({ name }) => name);
  const given = answers.map(({ question }) => question);
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const use = names.length === 0 ? 'it has options, and no questions' : `its questions are ${quoted(names)}`;
    return { reason: 'unknown_question', detail: `${JSON.stringify(unknown)} is not a question of it: ${use}` };
  }
  const twice = repeated(given);
  if (twice !== undefined) return { reason: 'too_many_labels', detail: `"${twice}" is answered twice` };
  for (const question of questions) {
    const mistake = mistakeInOne(
      question,
      answers.find((one) => one.question === question.name),
    );
    if (mistake !== null) return mistake;
  }
  return null;
};

const LONGEST_SUMMARY = 400;

/** Answers in words, such as `Database: SQLite; Features: Login, "a cache"`, at most 400 characters. */
export const answersText = (answers: readonly QuestionAnswer[]): string => {
  const parts = answers.map((answer) => {
    const own = textOf(answer);
    return `${answer.question}: ${[...answer.labels, ...(own === '' ? [] : [JSON.stringify(own)])].join(', ')}`;
  });
  const text = parts.join('; ').replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
  return text.length <= LONGEST_SUMMARY ? text : `${text.slice(0, LONGEST_SUMMARY - 1).toWellFormed()}…`;
};
