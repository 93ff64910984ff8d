// Regular expressions of tenants, matched in time linear in the text: V8's own matcher may take exponential time, and a tenant's
// pattern must not block the others. Go's syntax and semantics, with a simulation of all states at once (Thompson's).

import { complement } from "./re2-classes.ts"
import { parsePattern } from "./re2-parse.ts"
import { maxParts } from "./re2-reader.ts"
import type { Assertion, CharacterSet, Node } from "./re2-tree.ts"

/** Maximum number of states times characters for one match, which takes some tens of milliseconds. */
const maxSteps = 4_000_000
/** Number of states of all cached compiled patterns, about 20 MB; the oldest pattern is dropped. */
const maxCachedStates = 200_000

export type Instruction =
  | { op: "set"; set: CompiledSet }
  | { op: "assert"; assertion: Assertion }
  /** Continues with the next instruction or, as the second choice, with `to`; lazy: in reverse order. */
  | { op: "split"; to: number; lazy?: boolean }
  | { op: "jump"; to: number }
  | { op: "match" }

interface CompiledSet {
  ascii: Uint8Array
  contains(codePoint: number): boolean
  /** Of a character that is not ASCII. */
  steps: number
}

interface Pattern {
  /** Matches anywhere in the text, like Go's MatchString. Throws RangeError if the text is too long for this pattern. */
  matches(text: string): boolean
}

interface Compiled extends Pattern {
  program: readonly Instruction[]
}

const cache = new Map<string, Compiled>()
let cachedStates = 0

/** Throws a SyntaxError in Go's words. */
export function compilePattern(source: string): Pattern {
  return compiled(source)
}

/** For pattern-search.ts. Throws a SyntaxError in Go's words. */
export function programOf(source: string): readonly Instruction[] {
  return compiled(source).program
}

/** Counts steps of one match; throws RangeError at the limit. */
export function limitSteps(): (count?: number) => void {
  let steps = 0
  return (count = 1) => {
    if ((steps += count) > maxSteps) throw new RangeError("the text is too long for this pattern")
  }
}

function compiled(source: string): Compiled {
  const known = cache.get(source)
  if (known !== undefined) return known
  const program = compile(parsePattern(source), source)
  const pattern: Compiled = { program, matches: (text) => run(program, text) }
  cache.set(source, pattern)
  cachedStates += program.length
  for (const [oldest, { program: states }] of cache) {
    if (cachedStates <= maxCachedStates) break
    cache.delete(oldest)
    cachedStates -= states.length
  }
  return pattern
}

/** "error parsing regexp: …", or undefined if the pattern is valid. */
export function patternError(source: string): string | undefined {
  try {
    compilePattern(source)
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}

function compile(node: Node, source: string): Instruction[] {
  const program: Instruction[] = []
  const sets = new CompiledSets()
  const emit = (instruction: Instruction): number => {
    if (program.length >= maxParts) throw new SyntaxError(`error parsing regexp: expression too large: \`${source}\``)
    return program.push(instruction) - 1
  }
  const point = (at: number, to: number): void => {
    const instruction = program[at]
    if (instruction?.op === "split" || instruction?.op === "jump") instruction.to = to
  }
  const repeat = (inner: Node, min: number, max: number, lazy: boolean): void => {
    for (let count = 0; count < min; count++) visit(inner)
    if (max === Infinity) {
      const split = emit({ op: "split", to: 0, lazy })
      visit(inner)
      emit({ op: "jump", to: split })
      point(split, program.length)
      return
    }
    const splits: number[] = []
    for (let count = min; count < max; count++) {
      splits.push(emit({ op: "split", to: 0, lazy }))
      visit(inner)
    }
    for (const split of splits) point(split, program.length)
  }
  const visit = (one: Node): void => {
    switch (one.kind) {
      case "set":
        emit({ op: "set", set: sets.of(one.set) })
        return
      case "assert":
        emit({ op: "assert", assertion: one.assertion })
        return
      case "concat":
        for (const inner of one.nodes) visit(inner)
        return
      case "alternate": {
        const ends: number[] = []
        for (const [index, inner] of one.nodes.entries()) {
          const isLast = index === one.nodes.length - 1
          const split = isLast ? undefined : emit({ op: "split", to: 0 })
          visit(inner)
          if (split === undefined) continue
          ends.push(emit({ op: "jump", to: 0 }))
          point(split, program.length)
        }
        for (const end of ends) point(end, program.length)
        return
      }
      case "repeat":
        repeat(one.node, one.min, one.max, one.lazy)
    }
  }
  visit(node)
  emit({ op: "match" })
  return program
}

/** Those of one pattern: what it repeats is compiled once, and so is each of its characters. */
class CompiledSets {
  readonly #sets = new Map<CharacterSet | string, CompiledSet>()
  readonly #foldingsOf = rememberingFoldings()

  of(set: CharacterSet): CompiledSet {
    const [range, more] = set.ranges
    const isPlain = more === undefined && set.classes.length === 0 && !set.negated
    const key = isPlain && range !== undefined ? `${range.join()} ${set.foldCase}` : set
    let compiled = this.#sets.get(key)
    if (compiled === undefined) this.#sets.set(key, (compiled = compileSet(set, this.#foldingsOf)))
    return compiled
  }
}

function compileSet(
  { ranges, classes, negated, foldCase }: CharacterSet,
  foldingsOf: (point: number) => readonly number[],
): CompiledSet {
  const sorted = complement(complement(ranges))
  const has = (point: number): boolean => isWithin(sorted, point) || classes.some((test) => test(point))
  const contains = (point: number): boolean => {
    const found = has(point) || (foldCase && foldingsOf(point).some(has))
    return found !== negated
  }
  const ascii = Uint8Array.from({ length: 128 }, (_, point) => (contains(point) ? 1 : 0))
  return { ascii, contains, steps: (1 + classes.length) * (foldCase ? 1 + mostFoldings : 1) }
}

/** `sorted`: ranges that do not overlap. */
function isWithin(sorted: CharacterSet["ranges"], point: number): boolean {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle]?.[1] ?? 0) < point) low = middle + 1
    else high = middle
  }
  const found = sorted[low]
  return found !== undefined && found[0] <= point
}

/** Of ASCII, which each set asks for when it is compiled, and of the last other character: it is looked for in many sets. */
function rememberingFoldings(): (point: number) => readonly number[] {
  let last: { readonly point: number; readonly folded: readonly number[] } | undefined
  return (point) => {
    const known = asciiFoldings[point]
    if (known !== undefined) return known
    return (last = last?.point === point ? last : { point, folded: foldings(point) }).folded
  }
}

/** In lower case and in upper case. */
const mostFoldings = 2

/** Single characters, as in Go: "ß" is not "SS". */
function foldings(point: number): number[] {
  const text = String.fromCodePoint(point)
  return [text.toLowerCase(), text.toUpperCase()].flatMap((other) => {
    const folded = other.codePointAt(0) ?? 0
    return other === String.fromCodePoint(folded) ? [folded] : []
  })
}

const asciiFoldings: readonly (readonly number[])[] = Array.from({ length: 128 }, (_, point) => foldings(point))

function run(program: readonly Instruction[], text: string): boolean {
  // Each set of states is a list, with marks of its members by the position at which they were added.
  const added = new Int32Array(program.length).fill(-1)
  let current: number[] = []
  let next: number[] = []
  const spend = limitSteps()
  let position = 0
  const stack: number[] = []
  /** Follows instructions that consume no character; returns true if the end is reached. */
  const add = (states: number[], start: number): boolean => {
    stack.push(start)
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (added[at] === position) continue
      added[at] = position
      spend()
      const instruction = program[at] as Instruction
      if (instruction.op === "match") return true
      if (instruction.op === "set") states.push(at)
      else if (instruction.op === "jump") stack.push(instruction.to)
      else if (instruction.op === "split") stack.push(instruction.to, at + 1)
      else if (holdsAt(instruction.assertion, text, position)) stack.push(at + 1)
    }
    return false
  }
  for (;;) {
    // A match may start anywhere.
    if (add(current, 0)) return true
    const point = text.codePointAt(position)
    if (point === undefined) return false
    position += point > 0xffff ? 2 : 1
    for (const at of current) {
      const instruction = program[at] as Instruction
      if (instruction.op !== "set") continue
      const { set } = instruction
      if (point >= 128) spend(set.steps)
      if ((point < 128 ? set.ascii[point] === 1 : set.contains(point)) && add(next, at + 1)) return true
    }
    ;[current, next] = [next, current]
    next.length = 0
  }
}

export function holdsAt(assertion: Assertion, text: string, position: number): boolean {
  switch (assertion) {
    case "textStart":
      return position === 0
    case "textEnd":
      return position === text.length
    case "lineStart":
      return position === 0 || text[position - 1] === "\n"
    case "lineEnd":
      return position === text.length || text[position] === "\n"
    case "wordBoundary":
      return isWord(text[position - 1]) !== isWord(text[position])
    case "noWordBoundary":
      return isWord(text[position - 1]) === isWord(text[position])
  }
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character)
}
