/** A token of a configured issuer that identifies no user; the message is upstream's reason. */
export class InvalidToken extends Error {}
