/** The heading in `vigil --help` of commands that set up Vigil, or read its records. */
export const ADMINISTRATION = 'Administration and records:';
