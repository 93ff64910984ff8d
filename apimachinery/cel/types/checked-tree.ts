// A tree with what check.ts has found out about it: cost.ts estimates by it, plan.ts makes of it what runs.

import type { Node } from "../syntax/ast.ts"
import type { Type } from "./types.ts"

/** What a name in the tree means: a variable of the environment (possibly a.b written as a path), or a type. */
export type Reference =
  | { kind: "variable"; name: string }
  | { kind: "local"; name: string }
  | { kind: "type"; type: Type }

export interface CheckedTree {
  tree: Node
  types: ReadonlyMap<Node, Type>
  /** Of identifiers, and of paths that are identifiers. */
  references: ReadonlyMap<Node, Reference>
  /** Ids of the overloads a call may mean. */
  overloads: ReadonlyMap<Node, readonly string[]>
  /** Calls a.b(x) of a function that is named "a.b". */
  functions: ReadonlyMap<Node, string>
}
