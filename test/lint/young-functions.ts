// A rule for oxlint: `object.property = () => …`. V8 assumes that a function assigned to a property where it is written is a
// method that exists once, and allocates it in the old generation. Each such function then retains its closure, such as a whole
// request, until a major collection (docs/decisions/0022-what-requests-make-dies-young.md). A function that is first assigned to
// a variable is allocated in the young generation.

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

/** Code that runs when the module is loaded runs only once. */
function isInFunction(node: Node): boolean {
  for (let at = node["parent"] as Node | null; at !== null; at = at["parent"] as Node | null)
    if (functions.includes(at.type) || at.type === "FunctionDeclaration") return true
  return false
}
