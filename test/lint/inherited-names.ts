// Two rules for oxlint against finding inherited properties under names from untrusted clients: `key in object` is true for
// "constructor" with any object, and a table that is an object literal has a value for "toString".

import type { Context, Node, Rule } from "./polyplane.ts"

export const ownNames: Rule = {
  create: (context: Context) => ({
    BinaryExpression(node) {
      const { operator, left } = node as unknown as { operator: string; left: Node }
      if (operator !== "in" || left.type === "Literal" || left.type === "PrivateIdentifier") return
      context.report({ node, message: "Of a name that is not written here: Object.hasOwn(object, name)." })
    },
  }),
}

/** For constants of a module and read-only tables. */
export const dictionaries: Rule = {
  create: (context: Context) => ({
    VariableDeclarator(node) {
      const { id, init, parent: declaration } = node as unknown as Declarator
      if (init?.type !== "ObjectExpression" || init.properties.length === 0) return
      const isOfModule = ["Program", "ExportNamedDeclaration"].includes(declaration.parent.type)
      if (!isTable(id.typeAnnotation?.typeAnnotation, isOfModule)) return
      context.report({ node, message: "A table of words is made by dictionary() (apimachinery/dictionary.ts)." })
    },
  }),
}

interface Declarator {
  id: { typeAnnotation?: { typeAnnotation: TypeNode } }
  init: { type: string; properties: readonly Node[] } | null
  parent: { parent: Node }
}

interface TypeNode extends Node {
  typeName?: { name?: string }
  typeArguments?: { params: TypeNode[] }
}

/** Matches Readonly<Record<string, …>>, and with `asAnything` also Record<string, …>. */
function isTable(type: TypeNode | undefined, asAnything: boolean): boolean {
  const [first] = type?.typeArguments?.params ?? []
  const name = type?.typeName?.name
  if (name === "Readonly") return isTable(first, true)
  return name === "Record" && asAnything && first?.type === "TSStringKeyword"
}
