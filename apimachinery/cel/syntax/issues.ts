// Errors of an expression, formatted like cel-go's: position, message, line and marker. Clients print them unchanged.

export interface Issue {
  /** Offset in code points. */
  at: number
  message: string
}

/** Further issues are counted, but not printed. After one more of the syntax, cel-go gives up. */
export const maxShown = 100
/** Longer lines are not printed with their issues. */
const maxSnippet = 16_384

export function printIssues(source: string, issues: readonly Issue[]): string {
  const points = Array.from(source)
  const placed = issues.slice(0, maxShown).map((issue) => ({ issue, ...placeOf(points, issue.at) }))
  placed.sort((a, b) => a.line - b.line || a.column - b.column)
  const shown = placed.map(({ issue, line, column }) => printIssue(points, issue.message, line, column))
  if (issues.length > maxShown) shown.push(`${issues.length - maxShown} more errors were truncated`)
  return shown.join("\n")
}

interface Place {
  /** Counted from 1. */
  line: number
  /** Counted from 0. */
  column: number
}

function placeOf(points: readonly string[], at: number): Place {
  let line = 1
  let start = 0
  for (let index = 0; index < at && index < points.length; index++) {
    if (points[index] !== "\n") continue
    line++
    start = index + 1
  }
  return { line, column: at - start }
}

function printIssue(points: readonly string[], message: string, line: number, column: number): string {
  // For an empty text, cel-go has no position.
  if (points.length === 0) return `ERROR: <input>:1:0: ${message}`
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`
  const text = points.join("").split("\n")[line - 1] ?? ""
  if (Buffer.byteLength(text) > maxSnippet) return head
  const snippet = Array.from(text.replaceAll("\t", " "))
  // Wide characters get wide markers, so that the columns are aligned.
  const marks = snippet.slice(0, column).map((point) => (isWide(point) ? "\uff0e" : "."))
  const marker = isWide(snippet[column]) ? "\uff3e" : "^"
  return `${head}\n | ${snippet.join("")}\n | ${marks.join("")}${marker}`
}

function isWide(point: string | undefined): boolean {
  return (point?.codePointAt(0) ?? 0) > 0x7f
}
