// How YAML is printed, in either thread: so that Kubernetes, which reads YAML 1.1, reads the same values again.

import { Document, visit } from "yaml"
import { isPlainText } from "../../apimachinery/schema/yaml/resolve.ts"

/** Characters that a text has only as escapes: those that are not allowed, other line breaks, byte order marks. */
const escapedOnly = /[^\t\n\r\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/gu

/** What is quoted stays on its line, since blanks around a break are read in more than one way. */
const inLines = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity }

export function printYaml(value: unknown): Buffer {
  const document = new Document(value, { sortMapEntries: true, aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === "string" && needsQuotes(scalar.value)) scalar.type = "QUOTE_DOUBLE"
    },
  })
  return Buffer.from(document.toString(inLines).replaceAll(escapedOnly, escape))
}

/** Times and numbers of base 60, which Kubernetes takes for texts, but not every reader. */
const isOtherElsewhere = /^(?:\d{4}-\d|[-+]?\d[\d_]*:[0-5]?\d)/

/** Blanks that readers of a block take for its indentation. */
const isIndented = /(?:^|\n) *\t|^ +\n/

function needsQuotes(text: string): boolean {
  const isPlain = isPlainText(text) && !isOtherElsewhere.test(text)
  return !isPlain || isIndented.test(text) || text.search(escapedOnly) >= 0
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}
