// Evaluates paths in an object. A path with an error anywhere has no result. Source: k8s.io/client-go/util/jsonpath (jsonpath.go),
// in which the order of map entries is random; here it is that of the object.

import { compareValues } from "./compare.ts"
import { OwnNumber, type Path, type Step } from "./parse.ts"

/** Limit of values visited and steps taken per evaluation, against paths with many descents; beyond it there is no result. */
export const maxWork = 10_000

/** What all columns of an object have together. */
export const maxWorkOfObject = 50_000

/** Of several evaluations. */
export interface Work {
  left: number
}

/** The first value of the first path, if all paths can be evaluated. Null is a value. */
export function firstValue(paths: readonly Path[], object: object, work?: Work): { value: unknown } | undefined {
  const walk = new Walk(Math.min(maxWork, work?.left ?? maxWork))
  try {
    const [found = []] = paths.map((path) => walk.follow(path, [object]))
    return found.length === 0 ? undefined : { value: found[0] }
  } catch (error) {
    if (error instanceof PathFault || error instanceof TooMuch) return undefined
    throw error
  } finally {
    if (work !== undefined) work.left -= walk.spent
  }
}

/** `values`: the result if the error is ignored, as in a filter that tests for existence. */
class PathFault extends Error {
  readonly values: readonly unknown[]

  constructor(values: readonly unknown[]) {
    super("the path does not fit the value")
    this.values = values
  }
}

class TooMuch extends Error {}

type Values = readonly unknown[]
type Slice = Extract<Step, { type: "slice" }>
type Filter = Extract<Step, { type: "filter" }>

class Walk {
  readonly #most: number
  #left: number

  constructor(most: number) {
    this.#most = this.#left = most
  }

  get spent(): number {
    return this.#most - this.#left
  }

  follow(path: Path, values: Values): Values {
    return path.reduce<Values>((found, step) => this.#take(step, found), values)
  }

  #take(step: Step, values: Values): Values {
    this.#spend(1 + values.length)
    switch (step.type) {
      case "field":
        return values
          .filter((value) => isMap(value) && Object.hasOwn(value, step.name))
          .map((map) => (map as Map)[step.name])
      case "slice":
        return this.#slice(step, values)
      case "wildcard":
        return values.flatMap((value) => this.#within(value))
      case "descent":
        return this.#below(values)
      case "union":
        return step.paths.flatMap((path) => orElse(values, () => this.follow(path, values)))
      case "filter":
        return values.flatMap((value) => this.#filter(step, value, values))
      case "literal":
        return typeof step.value === "string" ? [step.value] : values.map(() => step.value)
      case "word":
        throw new PathFault(values)
    }
  }

  #spend(work: number): void {
    this.#left -= work
    if (this.#left < 0) throw new TooMuch()
  }

  /** Entries, items or bytes of a value. */
  #within(value: unknown): Values {
    const values =
      typeof value === "string"
        ? [...Buffer.from(value)].map((byte) => new OwnNumber("integer", byte))
        : Array.isArray(value)
          ? (value as Values)
          : isMap(value)
            ? Object.values(value)
            : []
    this.#spend(values.length)
    return values
  }

  /** All values that contain others, each before its contents. */
  #below(values: Values): unknown[] {
    const found: unknown[] = []
    const open = values.toReversed()
    while (open.length > 0) {
      const value = open.pop()
      const within = this.#within(value)
      if (within.length === 0) continue
      found.push(value)
      if (typeof value === "object") open.push(...within.toReversed())
    }
    return found
  }

  #slice({ from = 0, to, by = 1, single }: Slice, values: Values): Values {
    const found: unknown[] = []
    for (const value of values) {
      if (value === null) continue
      if (!Array.isArray(value)) throw new PathFault(values)
      const { length } = value
      const first = from < 0 ? from + length : from
      const given = single ? first + 1 : (to ?? length)
      const end = given < 0 ? given + length : given
      // Upstream does not examine further values then.
      if (first === end) return found
      if (first < 0 || first >= length || end < 0 || end > length || first > end || by <= 0) throw new PathFault(values)
      this.#spend(end - first)
      for (let index = first; index < end; index += by) found.push(value[index])
    }
    return found
  }

  #filter(filter: Filter, value: unknown, values: Values): Values {
    if (!Array.isArray(value)) throw new PathFault(values)
    return value.filter((item) => orElse(values, () => this.#holds(filter, item)))
  }

  #holds({ left, operator, right }: Filter, item: unknown): boolean {
    if (operator === "") return this.#exists(left, item)
    const one = single(this.follow(left, [item]))
    const other = one === undefined ? undefined : single(this.follow(right, [item]))
    if (one === undefined || other === undefined) return false
    const answer = compareValues(operator, one.value, other.value)
    if (answer === undefined) throw new PathFault([])
    return answer
  }

  #exists(path: Path, item: unknown): boolean {
    try {
      return this.follow(path, [item]).length > 0
    } catch (error) {
      if (error instanceof PathFault) return error.values.length > 0
      throw error
    }
  }
}

type Map = Record<string, unknown>

function isMap(value: unknown): value is Map {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof OwnNumber)
}

/** Only single values can be compared. */
function single(values: Values): { value: unknown } | undefined {
  if (values.length > 1) throw new PathFault([])
  return values.length === 0 ? undefined : { value: values[0] }
}

/** A fault in the work results in these values. */
function orElse<T>(values: Values, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof PathFault ? new PathFault(values) : error
  }
}
