// A plugin for oxlint with the rules of this project.

import { dictionaries, ownNames } from "./inherited-names.ts"
import { linear } from "./regular-expressions.ts"
import { youngFunctions } from "./young-functions.ts"

/** The used part of the ESTree syntax tree. */
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

// oxlint requires a default export of plugins.
export default {
  meta: { name: "polyplane" },
  rules: {
    "linear-regular-expressions": linear,
    "own-names": ownNames,
    dictionaries,
    "young-functions": youngFunctions,
  },
}
