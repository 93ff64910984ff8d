// A tree with the results of check.ts, which are used by cost.ts and plan.ts.

import type { Node } from "../syntax/ast.ts"
import type { Type } from "./types.ts"

/** The meaning of a name in the tree: a variable of the environment (possibly a.b written as a path), or a type. */
export type Reference =
  | { kind: "variable"; name: string }
  | { kind: "local"; name: string }
  | { kind: "type"; type: Type }

export interface CheckedTree {
  tree: Node
  types: ReadonlyMap<Node, Type>
  /** For identifiers, and for paths that are identifiers. */
  references: ReadonlyMap<Node, Reference>
  /** Ids of a call's possible overloads. */
  overloads: ReadonlyMap<Node, readonly string[]>
  /** Calls a.b(x) of a function named "a.b". */
  functions: ReadonlyMap<Node, string>
}
