// What OpenAPI documents show beyond what the types say: facts.json beside this file, made by ../generate/ and read when the
// first document is made.

import { ownValue } from "../json-object.ts"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import type { Json } from "../../object.ts"
import { parseGroupVersion } from "../../object.ts"

interface PublishedFacts {
  /** By type and field: a default that the field's type does not give it. */
  defaults: Record<string, Record<string, Json>>
  /** By type: x-kubernetes-unions. */
  unions: Record<string, Json>
  /** By type: fields of which nothing is said but the type they refer to. */
  bare: Record<string, string[]>
  /** Group versions that know the options of requests, those of no resource among them. */
  optionVersions: string[]
  /** "ListOptions.limit", "path.namespace", "body.Patch" → what the shared parameter of version 2 is called after its name. */
  parameters: Record<string, string>
  /** "ListOptions.limit" → where lines end in its words. */
  lineEnds: Record<string, number[]>
}

let loaded: PublishedFacts | undefined

function facts(): PublishedFacts {
  loaded ??= JSON.parse(readFileSync(new URL("./facts.json", import.meta.url), "utf8")) as PublishedFacts
  return loaded
}

let digest: string | undefined

/** Of all that documents are made of. */
export function factsDigest(): string {
  if (digest === undefined) {
    const hash = createHash("sha256")
    for (const file of ["../facts.json", "./facts.json"]) hash.update(readFileSync(new URL(file, import.meta.url)))
    digest = hash.digest("hex")
  }
  return digest
}

export function publishedDefaults(type: string): Readonly<Record<string, Json>> | undefined {
  const { defaults } = facts()
  return ownValue(defaults, type)
}

export function publishedUnions(type: string): Json | undefined {
  const { unions } = facts()
  return ownValue(unions, type)
}

/** Nothing is said of the field but the type it refers to. */
export function isBare(type: string, field: string): boolean {
  const { bare } = facts()
  return Object.hasOwn(bare, type) && bare[type]?.includes(field) === true
}

export interface GroupVersion {
  group: string
  version: string
}

export function optionVersions(): readonly GroupVersion[] {
  return facts().optionVersions.map(parseGroupVersion)
}

/** Undefined: every operation has its own. */
export function sharedParameterId(key: string): string | undefined {
  const { parameters } = facts()
  return ownValue(parameters, key)
}

/** Positions in a parameter's words. */
export function lineEndsOf(key: string): readonly number[] {
  const { lineEnds } = facts()
  return ownValue(lineEnds, key) ?? []
}
