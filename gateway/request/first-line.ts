// The first of several lines of a header, which is the one that Go's server reads. Node joins them, as those of one list.

import type { IncomingMessage } from "node:http"

export function firstLine({ headers, rawHeaders }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  if (typeof value !== "string") return undefined
  if (!value.includes(", ")) return value
  const at = rawHeaders.findIndex((line, index) => index % 2 === 0 && line.toLowerCase() === name)
  return rawHeaders[at + 1] ?? value
}
