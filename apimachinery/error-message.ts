// Messages of errors.

/** Of a thrown value, which in JavaScript need not be an Error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Of several errors, as Go aggregates them: a single one as it is, several in brackets without duplicates. */
export function aggregateMessage(messages: readonly string[]): string {
  const distinct = [...new Set(messages)]
  return distinct.length < 2 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`
}
