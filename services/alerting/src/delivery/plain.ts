/** What agents wrote must not control the terminal that shows it, nor turn its text around. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ');
