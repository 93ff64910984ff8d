// matches(), find() and findAll(), in time linear in the text. Source: cel-spec, k8s.io/apiserver/pkg/cel/library/regex.go.

import { dictionary } from "../../dictionary.ts"
import { compilePattern } from "../../schema/regular-expressions/patterns.ts"
import { findPattern } from "../../schema/regular-expressions/pattern-search.ts"
import { ArrayList, CelError, type Value, type Implementation, noOverload } from "../values.ts"

function attempt(make: () => Value, prefix = ""): Value {
  try {
    return make()
  } catch (error) {
    // An invalid pattern, or a text too long for it.
    if (error instanceof SyntaxError || error instanceof RangeError) return new CelError(prefix + error.message)
    throw error
  }
}

/** Only kube-apiserver's own functions say this, and not of constant patterns, which are compiled before (plan.ts). */
const illegal = "Illegal regex: "

export const regexFunctions: Readonly<Record<string, Implementation>> = dictionary({
  find: ([text, pattern]) => {
    if (typeof text !== "string" || typeof pattern !== "string") return noOverload
    return attempt(() => findPattern(pattern, text, 1)[0] ?? "", illegal)
  },
  findAll: ([text, pattern, limit]) => {
    if (typeof text !== "string" || typeof pattern !== "string") return noOverload
    if (limit !== undefined && typeof limit !== "bigint") return noOverload
    const most = limit === undefined ? -1 : Number(limit)
    return attempt(() => new ArrayList(findPattern(pattern, text, most)), illegal)
  },
  matches: ([text, pattern]) => {
    if (typeof text !== "string" || typeof pattern !== "string") return noOverload
    return attempt(() => compilePattern(pattern).matches(text))
  },
})
