// Two rules of oxlint's: what is asked for a stranger's word answers with what is its own. `key in object` is true of "constructor"
// whatever the object is, and a table that is an object literal has something to say of "toString".

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

/** Constants of a module, and what is only read. */
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

/** Record<string, …>, as Readonly or whatever is asked for. */
function isTable(type: TypeNode | undefined, asAnything: boolean): boolean {
  const [first] = type?.typeArguments?.params ?? []
  const name = type?.typeName?.name
  if (name === "Readonly") return isTable(first, true)
  return name === "Record" && asAnything && first?.type === "TSStringKeyword"
}
