// Parses a CEL expression to its syntax tree. Source: cel-spec/doc/langdef.md, and the grammar of cel-go's parser.

import { dictionary } from "../../dictionary.ts"
import { balanced, call, ident, list, literal, type MapEntryNode, type Node, type StructFieldNode } from "./ast.ts"
import { isReserved } from "./identifiers.ts"
import { type Issue, maxShown } from "./issues.ts"
import { literalValue } from "./literals.ts"
import { expandCall } from "./macros.ts"
import { scan, sizeIssue, type Token } from "./scanner.ts"
import { isName, named, ParsingStopped, TokenStream } from "./tokens.ts"

/** Maximum nesting of expressions and operands; limits all recursion over the tree. */
const maxDepth = 250

/** In order of increasing precedence. */
const levels = [new Set(["<", "<=", ">=", ">", "==", "!=", "in"]), new Set(["+", "-"]), new Set(["*", "/", "%"])]
const binary: Readonly<Record<string, string>> = dictionary({ in: "@in" })

/** If there are issues, the tree must not be used. `bindings`: cel.bind() is a macro. */
export function parseExpression(source: string, bindings: boolean): { tree: Node | undefined; issues: Issue[] } {
  const tooLong = sizeIssue(source)
  if (tooLong !== undefined) return { tree: undefined, issues: [tooLong] }
  const { tokens, issues } = scan(source)
  if (issues.length > maxShown) return { tree: undefined, issues }
  const parser = new Parser(tokens, issues, { source, bindings })
  try {
    return { tree: parser.whole(), issues }
  } catch (error) {
    if (error instanceof ParsingStopped) return { tree: undefined, issues }
    throw error
  }
}

class Parser {
  readonly #tokens: TokenStream
  readonly #bindings: boolean
  #depth = 0

  constructor(tokens: readonly Token[], issues: Issue[], { source, bindings }: { source: string; bindings: boolean }) {
    this.#tokens = new TokenStream(tokens, issues, source)
    this.#bindings = bindings
  }

  whole(): Node {
    const tree = this.#expression()
    this.#tokens.expectEnd()
    return tree
  }

  #deeper<T>(parse: () => T): T {
    if (++this.#depth > maxDepth) {
      this.#tokens.issue(0, `Internal error: expression recursion limit exceeded: ${maxDepth}`)
      throw new ParsingStopped()
    }
    const result = parse()
    this.#depth--
    return result
  }

  #expression(also: readonly string[] = []): Node {
    return this.#deeper(() => {
      const condition = this.#alternatives(also)
      const question = this.#tokens.takeIf("?")
      if (question === undefined) return condition
      const yes = this.#tokens.within([":"], () => this.#alternatives())
      this.#tokens.expect(":")
      return call(question.at, "_?_:_", condition, yes, this.#expression())
    })
  }

  /** `also`: other tokens allowed in place of the first operand. After an operator there are none. */
  #alternatives(also: readonly string[] = []): Node {
    return this.#logical("||", also, (before) =>
      this.#logical("&&", before, (relation) => this.#operations(0, relation)),
    )
  }

  /** Parses a && b && c to a balanced tree. */
  #logical(operator: "&&" | "||", also: readonly string[], operand: (also: readonly string[]) => Node): Node {
    const terms = [operand(also)]
    const places: number[] = []
    for (let taken = this.#tokens.takeIf(operator); taken !== undefined; taken = this.#tokens.takeIf(operator)) {
      places.push(taken.at)
      terms.push(operand([]))
    }
    return balanced(`_${operator}_`, terms, places)
  }

  #operations(level: number, also: readonly string[]): Node {
    const operators = levels[level]
    if (operators === undefined) return this.#unary(also)
    let left = this.#operations(level + 1, also)
    let grown = 0
    for (;;) {
      const token = this.#tokens.peek()
      if (token.kind !== "operator" || !operators.has(token.text)) break
      this.#tokens.take()
      if (this.#depth + ++grown > maxDepth) this.#deeper(() => this.#deeper(() => this.#expression()))
      left = call(token.at, binary[token.text] ?? `_${token.text}_`, left, this.#operations(level + 1, []))
    }
    return left
  }

  #unary(also: readonly string[]): Node {
    const missing = literal(this.#tokens.peek().at, null)
    if (!this.#tokens.beforeExpression(also)) return missing
    const first = this.#tokens.peek()
    const isNegative = this.#tokens.is("-") && !this.#tokens.isNumber(1)
    if (!isNegative && !this.#tokens.is("!")) return this.#member()
    let count = 0
    for (; this.#tokens.is(first.text); count++) {
      if (isNegative && !this.#tokens.mayBeNegated(1)) {
        // After the error, it is parsed as an operator.
        const found = this.#tokens.peek(1)
        this.#tokens.recover(found.at, this.#tokens.noAlternative(this.#tokens.peek(), found))
        return missing
      }
      this.#tokens.take()
    }
    if (!this.#tokens.afterSign()) return missing
    const operand = this.#member()
    return count % 2 === 0 ? operand : call(first.at, isNegative ? "-_" : "!_", operand)
  }

  #member(): Node {
    let operand = this.#primary()
    for (let grown = 1; ; grown++) {
      if (this.#depth + grown > maxDepth) return this.#deeper(() => this.#deeper(() => operand))
      const token = this.#tokens.peek()
      if (this.#tokens.is(".")) operand = this.#select(operand)
      else if (this.#tokens.is("[")) operand = this.#index(operand)
      else return operand
      if (this.#tokens.peek() === token) return operand
    }
  }

  #select(operand: Node): Node {
    const dot = this.#tokens.take()
    const optional = this.#tokens.takeIf("?") !== undefined
    const name = this.#tokens.peek()
    if (name.kind === "escaped") {
      this.#tokens.issue(name.at, "unsupported syntax: '`'")
      this.#tokens.take()
      return { kind: "select", at: dot.at, operand, field: name.text.slice(1, -1), testOnly: false }
    }
    if (!isName(name) && optional) {
      this.#tokens.recover(name.at, `mismatched input ${named(name)} expecting {IDENTIFIER, ESC_IDENTIFIER}`)
      this.#tokens.issue(name.at, "unsupported ident kind")
      // After the error, it is parsed as an operator.
      if (name.text === "in") return operand
      throw new ParsingStopped()
    }
    if (!isName(name)) {
      if (["true", "false", "null"].includes(name.text))
        this.#tokens.stop(`mismatched input ${named(name)} expecting IDENTIFIER`)
      const fault = this.#tokens.noAlternative(dot)
      if (name.text === "in") {
        // After the error, it is parsed as an operator.
        this.#tokens.syntax(name.at, fault)
        return operand
      }
      this.#tokens.stop(fault)
    }
    this.#tokens.take()
    if (optional) return call(dot.at, "_?._", operand, literal(name.at, name.text))
    if (!this.#tokens.is("(")) return { kind: "select", at: dot.at, operand, field: name.text, testOnly: false }
    const open = this.#tokens.take()
    const args = this.#arguments()
    return this.#called(open.at, name.text, operand, args)
  }

  #index(operand: Node): Node {
    const open = this.#tokens.take()
    const optional = this.#tokens.takeIf("?") !== undefined
    const index = this.#tokens.within(["]"], () => this.#expression(optional ? [] : ["'?'"]))
    this.#tokens.expect("]")
    return call(open.at, optional ? "_[?_]" : "_[_]", operand, index)
  }

  #called(at: number, name: string, target: Node | undefined, args: Node[]): Node {
    const expanded = expandCall({ at, name, target, args }, this.#bindings)
    if (!("fault" in expanded)) return expanded
    this.#tokens.issue(expanded.at, expanded.fault)
    return literal(at, null)
  }

  #arguments(): Node[] {
    if (this.#tokens.takeIf(")") !== undefined || this.#tokens.skipsTo(")")) return []
    const args: Node[] = []
    this.#tokens.within([",", ")"], () => {
      args.push(this.#expression(["')'"]))
      while (this.#tokens.takeIf(",") !== undefined) args.push(this.#expression())
    })
    this.#tokens.expect(")")
    return args
  }

  #primary(): Node {
    const token = this.#tokens.peek()
    if (token.kind === "operator") {
      if (token.text === "(") return this.#nested()
      if (token.text === "[") return this.#list()
      if (token.text === "{") return this.#map()
      if (token.text === ".") return this.#leadingDot()
      if (token.text === "-") return this.#negative()
    }
    this.#tokens.take()
    return token.kind === "identifier" ? this.#named(token, "") : this.#literal(token, false)
  }

  #nested(): Node {
    this.#tokens.take()
    const inner = this.#tokens.within([")"], () => this.#expression())
    this.#tokens.expect(")")
    return inner
  }

  #leadingDot(): Node {
    const dot = this.#tokens.take()
    if (!isName(this.#tokens.peek())) this.#tokens.stop(this.#tokens.noAlternative(dot))
    return this.#named(this.#tokens.take(), ".")
  }

  #negative(): Node {
    const minus = this.#tokens.take()
    this.#tokens.beforeExpression()
    return this.#literal({ ...this.#tokens.take(), at: minus.at }, true)
  }

  #named(token: Token, dot: "" | "."): Node {
    const { at, text } = token
    if (dot === "" && text === "true") return literal(at, true)
    if (dot === "" && text === "false") return literal(at, false)
    if (dot === "" && text === "null") return literal(at, null)
    const message = this.#tokens.takeMessageName(text)
    if (message !== undefined) return this.#struct(dot + message)
    if (isReserved(text)) {
      this.#tokens.issue(at, `reserved identifier: ${text}`)
      return literal(at, null)
    }
    const open = this.#tokens.takeIf("(")
    if (open === undefined) return ident(at, dot + text)
    const args = this.#arguments()
    return this.#called(open.at, dot + text, undefined, args)
  }

  #literal(token: Token, negative: boolean): Node {
    const value = literalValue(token.kind, token.text, negative)
    if (value !== undefined) return literal(token.at, value)
    const isText = token.kind === "string" || token.kind === "bytes"
    this.#tokens.issue(token.at, isText ? "invalid unicode code point" : `invalid ${token.kind} literal`)
    return literal(token.at, null)
  }

  #list(): Node {
    const open = this.#tokens.take()
    const elements: Node[] = []
    const optional = new Set<number>()
    this.#tokens.takeItems("]", "expression", () => {
      if (this.#tokens.takeIf("?") !== undefined) optional.add(elements.length)
      elements.push(this.#tokens.within([",", "]"], () => this.#expression()))
    })
    return { ...list(open.at, ...elements), optional }
  }

  #map(): Node {
    const open = this.#tokens.take()
    const entries: MapEntryNode[] = []
    this.#tokens.takeItems("}", "expression", () => {
      const optional = this.#tokens.takeIf("?") !== undefined
      const key = this.#tokens.within([":"], () => this.#expression())
      this.#tokens.expect(":")
      entries.push({ key, value: this.#value(), optional })
    })
    return { kind: "map", at: open.at, entries }
  }

  /** Of a map or a message. */
  #value(): Node {
    return this.#tokens.within([",", "}"], () => this.#expression())
  }

  #struct(name: string): Node {
    const open = this.#tokens.take()
    const fields: StructFieldNode[] = []
    this.#tokens.takeItems("}", "field", () => {
      const optional = this.#tokens.takeIf("?") !== undefined
      const field = this.#tokens.peek()
      if (!isName(field) && field.kind !== "escaped") {
        this.#tokens.mismatch(["'}'", "','", "'?'", "IDENTIFIER", "ESC_IDENTIFIER"])
      }
      this.#tokens.take()
      if (field.kind === "escaped") this.#tokens.issue(fields[0]?.at ?? field.at, "unsupported syntax: '`'")
      const { at } = this.#tokens.expect(":")
      fields.push({ at, name: field.text, value: this.#value(), optional })
    })
    return { kind: "struct", at: open.at, name, fields }
  }
}
