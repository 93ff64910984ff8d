// Composes tokens to the nodes of a text's first document; further documents are ignored. Source: go.yaml.in/yaml/v2
// (parserc.go).

import { maxDepth, tooDeep } from "../json/survey.ts"
import { Scanner } from "./scanner.ts"
import type { Tag } from "./tags.ts"
import { lineFault, YamlFault } from "./text.ts"
import type { Mark, Token } from "./tokens.ts"

/** Lines are counted from 0. */
export type YamlNode =
  | {
      is: "scalar"
      line: number
      value: string
      /** "": none. */ tag: string
      /** Without quotes, so that its text determines its type. */ isPlain: boolean
    }
  | { is: "list"; line: number; items: YamlNode[] }
  | { is: "map"; line: number; pairs: [YamlNode, YamlNode][] }
  | { is: "alias"; line: number; name: string; target: YamlNode }

export const tagPrefix = "tag:yaml.org,2002:"

/** Undefined if there is no document. */
export function compose(text: string): YamlNode | undefined {
  return new Composer(new Scanner(text)).document()
}

/** The error for an unexpected token. */
const parserFault = (words: string, { line }: Token): YamlFault => lineFault(words, line)

class Composer {
  readonly #scanner: Scanner
  readonly #handles = new Map<string, string>()
  readonly #anchors = new Map<string, YamlNode>()
  #depth = 0

  constructor(scanner: Scanner) {
    this.#scanner = scanner
  }

  document(): YamlNode | undefined {
    if (this.#isNext("end")) return undefined
    const isExplicit = this.#isNext("directive", "document start")
    this.#readDirectives()
    if (isExplicit) {
      const start = this.#scanner.peek()
      if (start.is !== "document start") throw parserFault("did not find expected <document start>", start)
      this.#scanner.take()
    }
    const isEmpty = isExplicit && this.#isNext("directive", "document start", "document end", "end")
    const node = isEmpty ? empty(this.#scanner.peek().line) : this.#node(true, false)
    this.#scanner.peek() // must be a valid token
    return node
  }

  #isNext(...kinds: readonly Token["is"][]): boolean {
    return kinds.includes(this.#scanner.peek().is)
  }

  #takeIf(is: Mark): boolean {
    if (!this.#isNext(is)) return false
    this.#scanner.take()
    return true
  }

  #readDirectives(): void {
    let hasVersion = false
    for (let token = this.#scanner.peek(); token.is === "directive"; token = this.#scanner.peek()) {
      const { directive } = token
      if (directive.is === "version") {
        if (hasVersion) throw parserFault("found duplicate %YAML directive", token)
        if (directive.major !== 1 || directive.minor !== 1) throw parserFault("found incompatible YAML document", token)
        hasVersion = true
      } else {
        if (this.#handles.has(directive.handle)) throw parserFault("found duplicate %TAG directive", token)
        this.#handles.set(directive.handle, directive.prefix)
      }
      this.#scanner.take()
    }
    for (const [handle, prefix] of [["!", "!"] as const, ["!!", tagPrefix] as const])
      if (!this.#handles.has(handle)) this.#handles.set(handle, prefix)
  }

  /** `inBlock`: it may be a block collection; `indentless`: also a list whose dashes are not indented further. */
  #node(inBlock: boolean, indentless: boolean): YamlNode {
    const { line } = this.#scanner.peek()
    if (this.#isNext("alias")) return this.#alias()
    const { anchor, tag, tagToken } = this.#properties()
    const full = tag === undefined ? "" : this.#resolve(tag, tagToken)
    const token = this.#scanner.peek()
    const note = <N extends YamlNode>(node: N): N => {
      if (anchor !== undefined) this.#anchors.set(anchor, node)
      return node
    }
    if (indentless && token.is === "-")
      return this.#nested(() => this.#indentless(note({ is: "list", line, items: [] })))
    if (token.is === "scalar") {
      this.#scanner.take()
      const isPlain = (full === "" && token.isPlain) || full === "!"
      return note({ is: "scalar", line, value: token.value, tag: full, isPlain })
    }
    if (token.is === "[") return this.#nested(() => this.#flowList(note({ is: "list", line, items: [] })))
    if (token.is === "{") return this.#nested(() => this.#flowMap(note({ is: "map", line, pairs: [] })))
    if (inBlock && token.is === "block list")
      return this.#nested(() => this.#blockList(note({ is: "list", line, items: [] })))
    if (inBlock && token.is === "block map")
      return this.#nested(() => this.#blockMap(note({ is: "map", line, pairs: [] })))
    if (anchor !== undefined || full !== "") return note({ ...empty(line), tag: full, isPlain: full === "" })
    throw parserFault("did not find expected node content", token)
  }

  #nested<N>(read: () => N): N {
    if (++this.#depth > maxDepth) throw new YamlFault(tooDeep)
    const node = read()
    this.#depth--
    return node
  }

  #alias(): YamlNode {
    const { line, name } = this.#scanner.take() as Token & { is: "alias" }
    const target = this.#anchors.get(name)
    if (target === undefined) throw new YamlFault(`yaml: unknown anchor '${name}' referenced`)
    return { is: "alias", line, name, target }
  }

  /** Anchor and tag in any order, each at most once. */
  #properties(): { anchor?: string; tag?: Tag; tagToken?: Token } {
    const found: { anchor?: string; tag?: Tag; tagToken?: Token } = {}
    for (;;) {
      const token = this.#scanner.peek()
      if (token.is === "anchor" && found.anchor === undefined) found.anchor = token.name
      else if (token.is === "tag" && found.tag === undefined) Object.assign(found, { tag: token.tag, tagToken: token })
      else return found
      this.#scanner.take()
    }
  }

  #resolve({ handle, suffix }: Tag, token: Token | undefined): string {
    if (handle === "") return suffix
    const prefix = this.#handles.get(handle)
    const tag = prefix === undefined ? "" : prefix + suffix
    if (tag === "" && token !== undefined) throw parserFault("found undefined tag handle", token)
    return tag
  }

  #blockList(node: YamlNode & { is: "list" }): YamlNode {
    this.#scanner.take()
    for (;;) {
      const token = this.#scanner.peek()
      if (this.#takeIf("block end")) return node
      if (!this.#takeIf("-")) throw parserFault("did not find expected '-' indicator", token)
      node.items.push(this.#isNext("-", "block end") ? empty(token.line) : this.#node(true, false))
    }
  }

  #indentless(node: YamlNode & { is: "list" }): YamlNode {
    for (;;) {
      const { line } = this.#scanner.peek()
      if (!this.#takeIf("-")) return node
      node.items.push(this.#isNext("-", "?", ":", "block end") ? empty(line) : this.#node(true, false))
    }
  }

  #blockMap(node: YamlNode & { is: "map" }): YamlNode {
    this.#scanner.take()
    for (;;) {
      const token = this.#scanner.peek()
      if (this.#takeIf("block end")) return node
      if (!this.#takeIf("?")) throw parserFault("did not find expected key", token)
      const key = this.#inBlockMap(token.line)
      const { line } = this.#scanner.peek()
      node.pairs.push([key, this.#takeIf(":") ? this.#inBlockMap(line) : empty(line)])
    }
  }

  #inBlockMap(line: number): YamlNode {
    return this.#isNext("?", ":", "block end") ? empty(line) : this.#node(true, true)
  }

  #flowList(node: YamlNode & { is: "list" }): YamlNode {
    this.#scanner.take()
    for (let isFirst = true; !this.#takeIf("]"); isFirst = false) {
      if (!isFirst) {
        if (!this.#takeIf(",")) throw parserFault("did not find expected ',' or ']'", this.#scanner.peek())
        if (this.#takeIf("]")) break
      }
      const { line } = this.#scanner.peek()
      node.items.push(this.#takeIf("?") ? this.#pairInList(line) : this.#node(false, false))
    }
    return node
  }

  /** A map with a single pair and without braces. */
  #pairInList(line: number): YamlNode {
    const after = this.#scanner.peek()
    const isEmpty = this.#isNext(":", ",", "]")
    const key = isEmpty ? empty(after.line) : this.#node(false, false)
    // Upstream takes the token that should be the colon as the key.
    if (isEmpty) this.#scanner.take()
    return { is: "map", line, pairs: [[key, this.#flowValue("]")]] }
  }

  #flowValue(close: "]" | "}"): YamlNode {
    if (this.#takeIf(":") && !this.#isNext(",", close)) return this.#node(false, false)
    return empty(this.#scanner.peek().line)
  }

  #flowMap(node: YamlNode & { is: "map" }): YamlNode {
    this.#scanner.take()
    for (let isFirst = true; !this.#takeIf("}"); isFirst = false) {
      if (!isFirst) {
        if (!this.#takeIf(",")) throw parserFault("did not find expected ',' or '}'", this.#scanner.peek())
        if (this.#takeIf("}")) break
      }
      if (this.#takeIf("?")) {
        const key = this.#isNext(":", ",", "}") ? empty(this.#scanner.peek().line) : this.#node(false, false)
        node.pairs.push([key, this.#flowValue("}")])
      } else {
        const key = this.#node(false, false)
        node.pairs.push([key, empty(this.#scanner.peek().line)])
      }
    }
    return node
  }
}

const empty = (line: number): YamlNode & { is: "scalar" } => ({ is: "scalar", line, value: "", tag: "", isPlain: true })
