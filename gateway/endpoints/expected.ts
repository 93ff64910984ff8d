import type { Schema } from "../../apimachinery/schema/schema.ts"
import type { ResourceDefinition } from "../registry/rest.ts"

/** What a body is to be: a resource's own kind, or a subresource's. */
export interface Expected {
  group: string
  version: string
  kind: string
  schema: Schema
  /** Defaults that depend on other fields. */
  default?: ((object: never) => void) | undefined
  /** What is said of every body that cannot be decoded, whatever is wrong with it. */
  refusal?: string
  /** An object that says no version is left without one. */
  mayLackVersion?: true
  /** apiVersion → kinds of the same name that are decoded, and converted to nothing. */
  unconverted?: ReadonlyMap<string, Schema>
}

export function expectedOf(definition: ResourceDefinition): Expected {
  const { group, version, kind, schema, strategy } = definition
  return { group, version, kind, schema, default: (object) => strategy.default?.(object) }
}
