// The compiled rules of a schema and of its parts, in steps.

import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../../schema/json-object.ts"
import type { Steps } from "../../steps.ts"
import { escapeIdentifier } from "../syntax/identifiers.ts"
import { type DeclaredType, declaredType } from "../types/declared-type.ts"
import { type CompiledRule, compilingRules, hasOwnRules } from "./rule.ts"

/** The rules of a schema and of its subschemas. */
export interface RuleTree {
  schema: JsonObject
  whole: boolean
  rules: readonly CompiledRule[]
  properties: ReadonlyMap<string, RuleTree>
  additional: RuleTree | undefined
  items: RuleTree | undefined
}

/** `whole`: its values are complete objects. Undefined if there are no rules. A step compiles one rule. */
export function compilingRuleTree(schema: JsonObject, whole: boolean): Steps<RuleTree | undefined> {
  return new RuleTrees(schema).compiling(schema, whole)
}

/** The trees of a schema and of those of its parts that are asked for. Each rule is compiled once, however many of them it is in. */
export class RuleTrees {
  /** The schemas with rules in them. */
  readonly #withRules = new Set<JsonObject>()
  readonly #known = new Map<JsonObject, RuleTree>()
  readonly #uncompiled: { tree: RuleTree; declared: DeclaredType }[] = []

  constructor(schema: JsonObject) {
    this.#find(schema)
  }

  *compiling(schema: JsonObject, whole: boolean): Steps<RuleTree | undefined> {
    const tree = this.#known.get(schema) ?? this.#treeOf(schema, whole)
    for (let next = this.#uncompiled.pop(); next !== undefined; next = this.#uncompiled.pop())
      next.tree.rules = yield* compilingRules(next.tree.schema, next.declared)
    return tree
  }

  #find(schema: Json | undefined): boolean {
    if (!isObject(schema)) return false
    const { properties, additionalProperties, items } = schema
    let hasRules = hasOwnRules(schema)
    for (const property of isObject(properties) ? Object.values(properties) : [])
      if (this.#find(property)) hasRules = true
    if (this.#find(additionalProperties)) hasRules = true
    if (this.#find(items)) hasRules = true
    if (hasRules) this.#withRules.add(schema)
    return hasRules
  }

  #treeOf(schema: JsonObject, whole: boolean): RuleTree | undefined {
    const declared = this.#withRules.has(schema) ? declaredType(schema, whole) : undefined
    return declared && this.#node(schema, whole, declared)
  }

  /** Values without a declared type, and what is below them, have no rules. */
  #node(schema: JsonObject, whole: boolean, declared: DeclaredType): RuleTree {
    const { properties, additionalProperties, items } = schema
    const child = (inner: Json | undefined, type: DeclaredType | undefined): RuleTree | undefined =>
      type !== undefined && isObject(inner) && this.#withRules.has(inner)
        ? this.#node(inner, isEmbedded(inner), type)
        : undefined
    const named = new Map<string, RuleTree>()
    for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
      if (!isObject(property) || !this.#withRules.has(property)) continue
      const escaped = escapeIdentifier(name)
      // A property that expressions cannot name is not part of the declared type.
      const type = escaped === undefined ? declaredType(property, isEmbedded(property)) : declared.fields.get(escaped)
      const tree = child(property, type)
      if (tree !== undefined) named.set(name, tree)
    }
    const tree: RuleTree = {
      schema,
      whole,
      rules: [],
      properties: named,
      additional: child(additionalProperties, declared.items),
      items: child(items, declared.items),
    }
    this.#known.set(schema, tree)
    if (hasOwnRules(schema)) this.#uncompiled.push({ tree, declared })
    return tree
  }
}

const isEmbedded = (schema: JsonObject): boolean => schema["x-kubernetes-embedded-resource"] === true
