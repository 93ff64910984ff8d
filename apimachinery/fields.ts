// Field selectors: `?fieldSelector=metadata.name=x,status.phase!=Running`. Source: k8s.io/apimachinery/pkg/fields.

import { badRequest } from "./status.ts"

interface FieldRequirement {
  field: string
  equal: boolean
  value: string
}

/** All must be satisfied; an empty list matches everything. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[]
}

/** In values, `\`, `,` and `=` may be escaped by a backslash. Throws BadRequest with upstream's messages. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text)) {
    if (term === "") continue
    // Field names cannot be escaped, so the first operator splits.
    const operator = /!=|==|=/.exec(term)
    if (operator === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
    const field = term.slice(0, operator.index)
    const value = unescape(term.slice(operator.index + operator[0].length))
    // A lone operator is not a requirement.
    if (field !== "" || value !== "") requirements.push({ field, equal: operator[0] !== "!=", value })
  }
  return { requirements }
}

/** Sorted like upstream's, which determines the error that is reported first. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === ",") {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms.sort()
}

function unescape(value: string): string {
  let plain = ""
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? ""
    if (character === "\\") {
      const next = value[++at]
      if (next !== "\\" && next !== "," && next !== "=")
        throw badRequest(`invalid field selector: invalid escape sequence: \\${next ?? ""}`)
      plain += next
    } else if (character === "=" || character === ",") {
      // Upstream prints the code of the character.
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`)
    } else plain += character
  }
  return plain
}

export function matchesFields(selector: FieldSelector, fields: Readonly<Record<string, string>>): boolean {
  for (const { field, equal, value } of selector.requirements) {
    const found: unknown = fields[field]
    // Inherited properties are not strings.
    if (((typeof found === "string" ? found : "") === value) !== equal) return false
  }
  return true
}

/** In upstream's format: terms joined by commas, values escaped. */
export function printFieldSelector(selector: FieldSelector): string {
  return selector.requirements
    .map(({ field, equal, value }) => `${field}${equal ? "=" : "!="}${value.replace(/[\\,=]/g, "\\$&")}`)
    .join(",")
}

/** The value that the selector requires for a field, such as a name or the node of a pod. */
export function requiredValue(selector: FieldSelector, field: string): string | undefined {
  return selector.requirements.find((requirement) => requirement.field === field && requirement.equal)?.value
}
