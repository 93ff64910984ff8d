// Converts property names to identifiers of expressions and back: "a-b" is a__dash__b, "in" is __in__. Source:
// k8s.io/apiserver/pkg/cel/escaping.go.

import { dictionary } from "../../dictionary.ts"

const reserved = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return " +
    "var void while"
  ).split(" "),
)
const escapes: Readonly<Record<string, string>> = dictionary({
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
})
const unescapes: Readonly<Record<string, string>> = dictionary({ underscores: "__", dot: ".", dash: "-", slash: "/" })

/** Undefined if the name cannot be escaped. */
export function escapeIdentifier(name: string): string | undefined {
  if (name === "" || /^\d/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  if (/[^\w./-]/.test(name)) return undefined
  return name.replace(/__|[-./]/g, (found) => escapes[found] ?? found)
}

/** Whether it must be escaped as a whole. As a field it may also be used unescaped: r.namespace is r.__namespace__. */
export function isReserved(name: string): boolean {
  return reserved.has(name)
}

export function unescapeIdentifier(escaped: string): string | undefined {
  if (!escaped.includes("__")) return escaped
  let valid = true
  const name = escaped.replace(/__[^_]+__/g, (found) => {
    const inner = found.slice(2, -2)
    const plain = unescapes[inner]
    if (plain !== undefined) return plain
    // A reserved word is only escaped as a whole.
    if (!reserved.has(inner) || found.length !== escaped.length) valid = false
    return inner
  })
  return valid ? name : undefined
}
