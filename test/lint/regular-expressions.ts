// A rule for oxlint: the time of a regular expression must be linear in the text, which comes from clients. Expressions that
// backtrack, or restart at each character of what they have read, take quadratic time or never end. They are detected by scslre,
// the engine of eslint-plugin-regexp (which would require ESLint).
// How such are recognized is scslre's, the engine of eslint-plugin-regexp (which would bring ESLint along).

import { analyse, type Report } from "scslre"
import type { Node, Rule } from "./polyplane.ts"

type Constants = ReadonlyMap<string, Node>

export const linear: Rule = {
  create(context) {
    let constants: Constants = new Map()
    const check = (node: Node, source: string | undefined, flags: string | undefined) => {
      if (source === undefined || flags === undefined) return
      for (const message of faults(source, flags)) context.report({ node, message })
    }
    const construct = (node: Node) => {
      const { callee, arguments: given } = node as unknown as { callee: Node; arguments: Node[] }
      if (callee["name"] !== "RegExp" || given[0] === undefined) return
      check(node, textOf(given[0], constants), given[1] === undefined ? "" : textOf(given[1], constants))
    }
    return {
      Program: (node) => (constants = constantsOf(node["body"] as Node[])),
      Literal(node) {
        const { regex } = node as { regex?: { pattern: string; flags: string } }
        check(node, regex?.pattern, regex?.flags)
      },
      NewExpression: construct,
      CallExpression: construct,
    }
  },
}

/**
 * Returns a sentence for each fault. For backtracking it is assumed that the text can end so that it does not match; expressions
 * that cannot fail do not restart.
 */
function faults(source: string, flags: string): string[] {
  const back = analyse({ source, flags }, { reportTypes: { Move: false }, assumeRejectingSuffix: true })
  const anew = analyse({ source, flags }, { reportTypes: { Trade: false, Self: false } })
  return [...back.reports, ...anew.reports].map(
    (report) => `/${source}/ may take the square of a text's length, or more: ${explain(report)}.`,
  )
}

function explain(report: Report): string {
  const repeated = `a text that repeats ${JSON.stringify(report.character.pick)}`
  switch (report.type) {
    case "Trade":
      return `of ${repeated} '${report.startQuant.raw}' and '${report.endQuant.raw}' both take any part`
    case "Self":
      return `'${report.quant.raw}' divides ${repeated} among its own repetitions in any way`
    case "Move":
      return `'${report.quant.raw}' reads ${repeated} to its end, again from each of its characters`
  }
}

/** Constants of the module, from which expressions may be composed. */
function constantsOf(statements: readonly Node[]): Constants {
  const declared = statements
    .map((statement) => (statement["declaration"] ?? statement) as Node)
    .filter(({ type, kind }) => type === "VariableDeclaration" && kind === "const")
    .flatMap(({ declarations }) => declarations as { id: Node; init: Node }[])
  return new Map(declared.flatMap(({ id, init }) => (id.type === "Identifier" ? [[id["name"] as string, init]] : [])))
}

/** The constant text of an expression; undefined if it is only known at run time. */
function textOf(node: Node, constants: Constants): string | undefined {
  switch (node.type) {
    case "Literal":
      return typeof node["value"] === "string" || typeof node["value"] === "number" ? String(node["value"]) : undefined
    case "Identifier": {
      const init = constants.get(node["name"] as string)
      return init === undefined ? undefined : textOf(init, constants)
    }
    case "TaggedTemplateExpression":
      return isRaw(node["tag"] as Node) ? templateText(node["quasi"] as Node, "raw", constants) : undefined
    case "TemplateLiteral":
      return templateText(node, "cooked", constants)
    default:
      return undefined
  }
}

function templateText(node: Node, form: "raw" | "cooked", constants: Constants): string | undefined {
  const { quasis, expressions } = node as unknown as {
    quasis: { value: Record<string, string> }[]
    expressions: Node[]
  }
  let text = quasis[0]?.value[form] ?? ""
  for (const [index, expression] of expressions.entries()) {
    const part = textOf(expression, constants)
    if (part === undefined) return undefined
    text += part + (quasis[index + 1]?.value[form] ?? "")
  }
  return text
}

const isRaw = ({ object, property }: Node): boolean =>
  (object as Node | undefined)?.["name"] === "String" && (property as Node)["name"] === "raw"
