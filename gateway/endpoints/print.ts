// From a JSON value to the text or message of it.

import { stringify } from "yaml"
import { type Json, type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { encodeProtobuf } from "../../apimachinery/schema/protobuf/encode.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import type { Negotiated } from "./negotiation.ts"

export function printed(object: unknown, { format, pretty }: Pick<Negotiated, "format" | "pretty">): Buffer {
  switch (format) {
    case "yaml":
      return Buffer.from(stringify(object, { sortMapEntries: true, aliasDuplicateObjects: false }))
    case "protobuf":
      return builtInMessage(object as Json)
    case "json":
      return Buffer.from(pretty ? JSON.stringify(object, undefined, 2) : `${JSON.stringify(object)}\n`)
  }
}

/** Objects of kinds that have none do not come here: negotiation has seen to it. */
function builtInMessage(object: Json): Buffer {
  const { kind = "", apiVersion = "" } = object as Partial<KubeObject>
  // Discovery's oldest documents have no apiVersion, and are of v1 all the same.
  const schema = schemaOf({ ...parseGroupVersion(apiVersion || "v1"), kind })
  if (schema === undefined) throw new Error(`${apiVersion} ${kind} has no message`)
  return encodeProtobuf(schema, object)
}

export function messageOf({ schema }: ResourceDefinition, object: KubeObject): Buffer {
  return encodeProtobuf(schema, object as unknown as Json)
}
