// A plugin of oxlint: rules of this project's own.

import { dictionaries, ownNames } from "./inherited-names.ts"
import { linear } from "./regular-expressions.ts"
import { youngFunctions } from "./young-functions.ts"

/** Of the syntax tree, as ESTree has it; what is not named here is not looked at. */
export interface Node {
  type: string
  [field: string]: unknown
}

export interface Context {
  report: (found: { node: Node; message: string }) => void
}

export interface Rule {
  create: (context: Context) => Record<string, (node: Node) => void>
}

// oxlint loads a plugin by its default export.
export default {
  meta: { name: "polyplane" },
  rules: {
    "linear-regular-expressions": linear,
    "own-names": ownNames,
    dictionaries,
    "young-functions": youngFunctions,
  },
}
