// Random expressions of CEL of a wanted type, composed of all functions that upstream declares.

import declarations from "../../../../apimachinery/cel/declarations.json" with { type: "json" }
import { atoms, hints, quoted } from "./expression-texts.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"

interface Type {
  name: string
  args: readonly Type[]
}

interface Overload {
  name: string
  receiver: Type | undefined
  args: readonly Type[]
  result: Type
}

/** What an expression may refer to by name. */
export interface Named {
  name: string
  type: string
}

type Bindings = Map<string, Type>

const deepest = 3

/** Those of macros, of no end for a large number, of types, and of policies that mutate. */
const left = /^@not|^@sort|^cel\.|^lists\.range$|^_\?\._$|^type$|^sign$|^jsonpatch/
const overloads: readonly Overload[] = Object.entries(declarations)
  .filter(([name]) => !left.test(name))
  .flatMap(([name, signatures]) =>
    Object.values(signatures as Record<string, string>).map((text) => overloadOf(name, text)),
  )

function overloadOf(name: string, text: string): Overload {
  const [, receiver = "", args = "", result = ""] = /^(?:(.*)\.)?\((.*)\) -> (.*)$/.exec(text) ?? []
  return {
    name,
    receiver: receiver === "" ? undefined : typeOf(receiver),
    args: partsOf(args).map(typeOf),
    result: typeOf(result),
  }
}

function typeOf(text: string): Type {
  const [, name = text, args = ""] = /^([^(]+)\((.*)\)$/.exec(text) ?? []
  return { name, args: partsOf(args).map(typeOf) }
}

/** Parts between commas that are in no parentheses. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ""
  for (const letter of text) {
    if (letter === "," && depth === 0) {
      parts.push(part.trim())
      part = ""
      continue
    }
    depth += letter === "(" ? 1 : letter === ")" ? -1 : 0
    part += letter
  }
  return part.trim() === "" ? parts : [...parts, part.trim()]
}

const print = ({ name, args }: Type): string => (args.length === 0 ? name : `${name}(${args.map(print).join(", ")})`)

function fits(type: Type, wanted: Type, bindings: Bindings): boolean {
  if (type.name.startsWith("<")) {
    const bound = bindings.get(type.name)
    if (bound === undefined) bindings.set(type.name, wanted)
    return bound === undefined || print(bound) === print(wanted)
  }
  return (
    type.name === wanted.name &&
    type.args.length === wanted.args.length &&
    type.args.every((arg, index) => fits(arg, wanted.args[index] as Type, bindings))
  )
}

const simple = ["int", "string", "bool", "double", "uint", "string", "int"]

function bound(random: Random, type: Type, bindings: Bindings): Type {
  if (!type.name.startsWith("<")) return { name: type.name, args: type.args.map((arg) => bound(random, arg, bindings)) }
  const known = bindings.get(type.name) ?? typeOf(pick(random, simple))
  bindings.set(type.name, known)
  return known
}

/** Types whose values differ in what can be done with them. */
export const wantedTypes: readonly string[] = `string int double bool uint bytes duration timestamp
  list(string) list(int) list(double) list(bool) list(timestamp) list(duration) list(uint) list(list(int))
  map(string,int) map(int,string) optional_type(string) optional_type(list(string))`.split(/\s+/)

export function expression(random: Random, type: string, scope: readonly Named[]): string {
  return made({ random, scope, depth: 0 }, typeOf(type))
}

interface Context {
  random: Random
  scope: readonly Named[]
  depth: number
}

function made(context: Context, wanted: Type): string {
  const { random, depth } = context
  if (depth >= deepest || chance(random, depth * 0.2)) return atom(context, wanted)
  const inner: Context = { ...context, depth: depth + 1 }
  if (chance(random, 0.2)) return macro(inner, wanted) ?? atom(context, wanted)
  const known = overloads.filter(({ result }) => fits(result, wanted, new Map()))
  if (known.length === 0) return atom(context, wanted)
  // By name, so that a function with many overloads is not chosen more often.
  const name = pick(random, [...new Set(known.map((overload) => overload.name))])
  return called(
    inner,
    pick(
      random,
      known.filter((overload) => overload.name === name),
    ),
    wanted,
  )
}

function called(context: Context, { name, receiver, args, result }: Overload, wanted: Type): string {
  const { random } = context
  const bindings: Bindings = new Map()
  fits(result, wanted, bindings)
  const value = (type: Type): string => {
    const hinted =
      type.name === "string" && Object.hasOwn(hints, name) && chance(random, 0.75) ? hints[name] : undefined
    return hinted === undefined ? made(context, bound(random, type, bindings)) : quoted(pick(random, hinted))
  }
  const target = receiver === undefined ? "" : value(receiver)
  const values = args.map(value)
  const [first = "", second = "", third = ""] = values
  if (name === "@in") return `(${first} in ${second})`
  if (name === "_?_:_") return `(${first} ? ${second} : ${third})`
  if (name === "_[_]") return `${first}[${second}]`
  if (name === "_[?_]") return `${first}[?${second}]`
  if (/^[!-]_$/.test(name)) return `${name[0]}(${first})`
  if (name.startsWith("_")) return `(${first} ${name.slice(1, -1)} ${second})`
  return receiver === undefined ? `${name}(${values.join(", ")})` : `${target}.${name}(${values.join(", ")})`
}

/** Names within a macro are of the kind of its operand. */
function macro(context: Context, wanted: Type): string | undefined {
  const { random } = context
  const items = typeOf(pick(random, simple))
  const list: Type = { name: "list", args: [items] }
  const x: Named = { name: `x${context.depth}`, type: print(items) }
  const i: Named = { name: `i${context.depth}`, type: "int" }
  const over = (type: Type, ...names: Named[]): string =>
    made({ ...context, scope: [...context.scope, ...names] }, type)
  const bool = typeOf("bool")
  const [arg = items] = wanted.args
  switch (wanted.name) {
    case "bool":
      return pick(random, [
        () => `${made(context, list)}.${pick(random, ["all", "exists", "exists_one"])}(${x.name}, ${over(bool, x)})`,
        () =>
          `${made(context, list)}.${pick(random, ["all", "exists", "existsOne"])}(${i.name}, ${x.name}, ${over(bool, i, x)})`,
      ])()
    case "list":
      return pick(random, [
        () => `${made(context, list)}.map(${x.name}, ${over(arg, x)})`,
        () => `${made(context, list)}.map(${x.name}, ${over(bool, x)}, ${over(arg, x)})`,
        () => `${made(context, wanted)}.filter(${x.name}, ${over(bool, { ...x, type: print(arg) })})`,
        () => `${made(context, list)}.transformList(${i.name}, ${x.name}, ${over(arg, i, x)})`,
        () =>
          `${made(context, wanted)}.sortBy(${x.name}, ${over(typeOf(pick(random, simple)), { ...x, type: print(arg) })})`,
      ])()
    case "optional_type":
      return `optional.of(${made(context, items)}).optMap(${x.name}, ${over(arg, x)})`
    default:
      return undefined
  }
}

function atom(context: Context, wanted: Type): string {
  const { random, scope } = context
  const named = scope.filter(({ type }) => type === print(wanted))
  if (named.length > 0 && chance(random, 0.6)) return pick(random, named).name
  const [first = typeOf("int"), second = typeOf("int")] = wanted.args
  const inside = { ...context, depth: deepest }
  const several = (make: () => string): string =>
    Array.from({ length: chance(random, 0.1) ? 0 : 1 + random(3) }, make).join(", ")
  switch (wanted.name) {
    case "list":
      return `[${several(() => atom(inside, first))}]`
    case "map":
      return `{${several(() => `${atom(inside, first)}: ${atom(inside, second)}`)}}`
    case "optional_type":
      return chance(random, 0.2) ? "optional.none()" : `optional.of(${atom(inside, first)})`
    default:
      return pick(random, atoms[wanted.name] ?? ["null"])
  }
}
