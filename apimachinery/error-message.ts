// The message of a thrown value, which in JavaScript need not be an Error.

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
