/** The authority of a client cannot be established, so nothing may be signed for it until an operator has helped. */
export class AuthorityUnavailableError extends Error {}
