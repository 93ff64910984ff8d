// A rule of oxlint's: `object.property = () => …`. V8 takes a function that is assigned to a property where it is written for a method, of
// which there is one, and makes it among the old. Each then keeps what it sees, all of a request, until everything is collected
// (docs/decisions/0022-what-requests-make-dies-young.md). With a name of its own first it is born young.

import type { Context, Node, Rule } from "./polyplane.ts"

const functions: readonly string[] = ["ArrowFunctionExpression", "FunctionExpression"]

export const youngFunctions: Rule = {
  create: (context: Context) => ({
    AssignmentExpression(node) {
      const { left, right } = node as unknown as { left: Node; right: Node }
      if (left.type !== "MemberExpression" || !functions.includes(right.type) || !isInFunction(node)) return
      context.report({ node, message: "It is born old: const one = () => …, and then object.property = one." })
    },
  }),
}

/** What runs when the module is loaded runs once. */
function isInFunction(node: Node): boolean {
  for (let at = node["parent"] as Node | null; at !== null; at = at["parent"] as Node | null)
    if (functions.includes(at.type) || at.type === "FunctionDeclaration") return true
  return false
}
