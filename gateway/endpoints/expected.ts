import { printGroupVersion } from "../../apimachinery/object.ts"
import type { JsonObject } from "../../apimachinery/schema/json-object.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import type { ResourceDefinition } from "../registry/rest.ts"

/** The expected kind of a body: that of a resource or of a subresource. */
export interface Expected {
  group: string
  version: string
  kind: string
  schema: Schema
  /** It gets none of the defaults, neither those of the schema. */
  lacksDefaults?: boolean
  /** Sets defaults of a version that is not served, in place of which the schema has others. */
  defaultFirst?: ((object: JsonObject) => void) | undefined
  /** Sets defaults that depend on other fields. */
  default?: ((object: never) => void) | undefined
  /** Runs after `default`; see Strategy. */
  convert?: ((object: never) => void) | undefined
  /** The error message for every body that cannot be decoded, regardless of the cause. */
  refusal?: string
  /** An object without apiVersion remains without one. */
  mayLackVersion?: true
  /** Other apiVersions in which the kind has the same fields; such an object becomes one of the expected version. */
  alike?: readonly string[]
  /** Stored in another version: what is applied may have fields that only that one knows. */
  isStoredAsOther?: boolean
  /** apiVersion → kinds of the same name that can be decoded but not converted. */
  unconverted?: ReadonlyMap<string, Schema>
}

export function expectedOf(definition: ResourceDefinition): Expected {
  const { group, version, kind, schema, strategy, storageVersion } = definition
  const isStoredAsOther = storageVersion !== printGroupVersion(definition)
  return {
    group,
    version,
    kind,
    schema,
    default: (object) => strategy.default?.(object),
    convert: (object) => strategy.convert?.(object),
    isStoredAsOther,
  }
}
