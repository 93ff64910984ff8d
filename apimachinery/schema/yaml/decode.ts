// Converts nodes to values: resolves aliases, and merges maps. Source: go.yaml.in/yaml/v2 (decode.go).

import { goQuote } from "../../go/quote.ts"
import { printGoNumber } from "../../go/print.ts"
import type { YamlNode } from "./compose.ts"
import { resolveScalar, type Scalar } from "./resolve.ts"
import { YamlFault } from "./text.ts"

export type YamlValue = Scalar | YamlValue[] | YamlMap

/** Keys of different types are different: 1 is not "1". */
class YamlMap {
  readonly #pairs = new Map<string, [Scalar, YamlValue]>()

  /** Returns whether the key existed before. */
  set(key: Scalar, value: YamlValue): boolean {
    const word = `${typeof key} ${String(key)}`
    const isRepeated = this.#pairs.has(word)
    this.#pairs.set(word, [key, value])
    return isRepeated
  }

  pairs(): IterableIterator<[Scalar, YamlValue]> {
    return this.#pairs.values()
  }
}

export class YamlTooLong extends Error {}

/** `maxSize`: in characters, with the content of aliases counted for each use. */
export class Decoder {
  /** Such as `line 3: key "a" already set in map`. */
  readonly repeatedKeys: string[] = []
  readonly #open = new Set<YamlNode>()
  readonly #limits: { maxSize: number; maxDepth: number; tooDeep: string }
  #size = 0
  #nodes = 1 // the document
  #aliased = 0
  #inAliases = 0
  #depth = 0

  constructor(limits: { maxSize: number; maxDepth: number; tooDeep: string }) {
    this.#limits = limits
  }

  decode(node: YamlNode): YamlValue {
    this.#count(node)
    switch (node.is) {
      case "scalar":
        return resolveScalar(node)
      case "alias":
        return this.#throughAlias(node, (target) => this.decode(target))
      case "list":
        return this.#deeper(() => node.items.map((item) => this.decode(item)))
      case "map": {
        const map = new YamlMap()
        this.#deeper(() => this.#fill(map, node))
        return map
      }
    }
  }

  #count(node: YamlNode): void {
    this.#nodes++
    if (this.#inAliases > 0) this.#aliased++
    if (this.#aliased > 100 && this.#nodes > 1000 && this.#aliased / this.#nodes > aliasedShare(this.#nodes))
      throw new YamlFault("yaml: document contains excessive aliasing")
    if (this.#inAliases === 0) return
    this.#size += 1 + (node.is === "scalar" ? node.value.length : 0)
    if (this.#size > this.#limits.maxSize) throw new YamlTooLong()
  }

  #deeper<T>(decode: () => T): T {
    if (++this.#depth > this.#limits.maxDepth) throw new YamlFault(this.#limits.tooDeep)
    const result = decode()
    this.#depth--
    return result
  }

  #throughAlias<T>(node: YamlNode & { is: "alias" }, decode: (target: YamlNode) => T): T {
    if (this.#open.has(node)) throw new YamlFault(`yaml: anchor '${node.name}' value contains itself`)
    this.#open.add(node)
    this.#inAliases++
    const result = decode(node.target)
    this.#inAliases--
    this.#open.delete(node)
    return result
  }

  #fill(map: YamlMap, { pairs }: YamlNode & { is: "map" }): void {
    for (const [key, value] of pairs) {
      if (key.is === "scalar" && isMerge(key)) {
        this.#merge(map, value)
        continue
      }
      const name = this.decode(key)
      if (typeof name === "object" && name !== null) throw new YamlFault(`yaml: invalid map key: ${printGo(name)}`)
      const isRepeated = map.set(name, this.decode(value))
      if (isRepeated) this.repeatedKeys.push(`line ${value.line + 1}: key ${printGo(name)} already set in map`)
    }
  }

  /** Merges into the map, overriding earlier values. */
  #merge(map: YamlMap, source: YamlNode): void {
    if (source.is !== "list") return this.#mergeOne(map, source)
    for (const one of source.items.toReversed()) this.#mergeOne(map, one)
  }

  #mergeOne(map: YamlMap, source: YamlNode): void {
    if ((source.is === "alias" ? source.target : source).is !== "map")
      throw new YamlFault("yaml: map merge requires map or sequence of maps as the value")
    this.#count(source)
    if (source.is === "map") this.#deeper(() => this.#fill(map, source))
    else if (source.is === "alias") this.#throughAlias(source, (target) => this.#mergeOne(map, target))
  }
}

const mergeTag = "tag:yaml.org,2002:merge"

const isMerge = ({ value, isPlain, tag }: YamlNode & { is: "scalar" }): boolean =>
  value === "<<" && (isPlain || tag === mergeTag)

/** The allowed share of aliased nodes: nearly all of a small document, a tenth of a large one. */
function aliasedShare(nodes: number): number {
  const [few, many] = [400_000, 4_000_000]
  return 0.99 - 0.89 * Math.min(Math.max((nodes - few) / (many - few), 0), 1)
}

/** Formats like Go's %#v for decoded YAML. */
export function printGo(value: YamlValue): string {
  if (value === null) return "<nil>"
  if (typeof value === "string") return goQuote(value)
  if (typeof value === "number") return printGoNumber(value)
  if (typeof value === "bigint") return isUnsigned(value) ? `0x${value.toString(16)}` : String(value)
  if (typeof value !== "object") return String(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(printInner).join(", ")}}`
  const pairs = [...value.pairs()].sort(byKey).map(([key, inner]) => `${printInner(key)}:${printInner(inner)}`)
  return `map[interface {}]interface {}{${pairs.join(", ")}}`
}

/** Orders keys of the same type by value, as Go prints maps. */
function byKey([a]: [Scalar, YamlValue], [b]: [Scalar, YamlValue]): number {
  const [first, second] = typeof a === typeof b ? [a ?? "", b ?? ""] : [typeof a, typeof b]
  return first < second ? -1 : 1
}

/** Too large for a signed 64-bit integer. */
export const isUnsigned = (value: bigint): boolean => value >= 2n ** 63n

const printInner = (value: YamlValue): string => (value === null ? "interface {}(nil)" : printGo(value))
