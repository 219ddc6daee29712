/** A time for people, to the second and in UTC, because a text does not have the time zone of its reader. `at`: epoch milliseconds. */
export const utcTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
