/** The tasks that a runtime's template accepts. */
export type TemplateFit = { readonly task: string; readonly labels: Readonly<Record<string, string>> };

/** `*` in the pattern matches any text. */
export const matches = (pattern: string, text: string): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    if (index === rest.length - 1) return text.length - part.length >= at && text.endsWith(part);
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length === first.length;
};

/** Whether the task matches and has each label of the template with its value. */
export const templateFits = (template: TemplateFit, task: string, labels: Readonly<Record<string, string>>): boolean =>
  matches(template.task, task) &&
  Object.entries(template.labels).every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value);
