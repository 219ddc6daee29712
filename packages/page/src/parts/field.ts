/** Gives a field the focus. What is typed next replaces its text. */
export const focusField = (field: HTMLInputElement): void => {
  field.focus();
  field.select();
};
