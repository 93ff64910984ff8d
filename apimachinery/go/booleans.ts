// Booleans as Go reads them. Source: strconv.ParseBool.

const truths: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"])
const falsehoods: ReadonlySet<string> = new Set(["0", "f", "F", "FALSE", "false", "False"])

/** Returns undefined if the text is neither true nor false. */
export function parseGoBool(text: string): boolean | undefined {
  if (truths.has(text)) return true
  return falsehoods.has(text) ? false : undefined
}
