/** What whoever runs the command can mend: said without a stack. */
export class ServicesError extends Error {}
