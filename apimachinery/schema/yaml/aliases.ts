// What the aliases of a YAML text stand for, and how much there is of it when each is written out: a small text must not become a
// large object.

import { isAlias, isCollection, isPair, isScalar, type Alias, type Document, type Node } from "yaml"

/** Of a node with its aliases written out. `nodes`, as upstream's decoder counts them. */
export interface Expansion {
  nodes: number
  bytes: number
  depth: number
}

/**
 * Meets every node of a document in its order. The parser's own way goes through the whole document for each alias, so each is told
 * here what it stands for.
 */
export class Aliases {
  readonly #anchors = new Map<string, Node>()
  readonly #targets = new Map<Alias, Node>()
  readonly #known = new Map<Node, Expansion>()
  readonly #refuse: (detail: string) => Error

  constructor(refuse: (detail: string) => Error) {
    this.#refuse = refuse
  }

  meet(node: Node, ancestors: readonly unknown[]): void {
    if (!isAlias(node)) {
      if (node.anchor) this.#anchors.set(node.anchor, node)
      return
    }
    const target = this.#anchors.get(node.source)
    if (target === undefined) throw this.#refuse(`unknown anchor '${node.source}' referenced`)
    if (ancestors.includes(target)) throw this.#refuse(`anchor '${node.source}' value contains itself`)
    this.#targets.set(node, target)
    node.resolve = () => target as ReturnType<Alias["resolve"]>
  }

  /** Throws for what upstream refuses. Source: unmarshal in sigs.k8s.io/yaml/goyaml.v2 (decode.go). */
  check({ contents }: Document): Expansion {
    const whole: Expansion = { nodes: 0, bytes: 0, depth: 0 }
    if (this.#targets.size === 0) return whole
    let aliased = 0
    const walk = (node: unknown, depth: number): void => {
      if (isAlias(node)) aliased += this.#expansion(this.#targets.get(node)).nodes
      const own = isCollection(node) || isPair(node) ? emptyOf(node) : this.#expansion(node)
      whole.nodes += own.nodes
      whole.bytes += own.bytes
      whole.depth = Math.max(whole.depth, depth + own.depth)
      if (aliased > 100 && whole.nodes > 1000 && aliased / whole.nodes > aliasedShare(whole.nodes)) {
        throw this.#refuse("document contains excessive aliasing")
      }
      for (const part of partsOf(node)) walk(part, depth + own.depth)
    }
    walk(contents, 0)
    return whole
  }

  #expansion(node: unknown): Expansion {
    const known = this.#known.get(node as Node)
    if (known !== undefined) return known
    const found = emptyOf(node)
    let below = 0
    for (const part of isAlias(node) ? [this.#targets.get(node)] : partsOf(node)) {
      const { nodes, bytes, depth } = this.#expansion(part)
      found.nodes += nodes
      found.bytes += bytes
      below = Math.max(below, depth)
    }
    found.depth += below
    this.#known.set(node as Node, found)
    return found
  }
}

/** Without what lies below it. */
function emptyOf(node: unknown): Expansion {
  if (isPair(node)) return { nodes: 0, bytes: 0, depth: 0 }
  const [start, end] = (isScalar(node) && node.range) || [0, 0]
  return { nodes: 1, bytes: 1 + end - start, depth: isCollection(node) ? 1 : 0 }
}

/** What may come of aliases: nearly all of a small document, a tenth of a large one. */
function aliasedShare(nodes: number): number {
  const [few, many] = [400_000, 4_000_000]
  return 0.99 - 0.89 * Math.min(Math.max((nodes - few) / (many - few), 0), 1)
}

function partsOf(node: unknown): readonly unknown[] {
  if (isPair(node)) return node.value === null ? [node.key] : [node.key, node.value]
  return isCollection(node) ? node.items : []
}
