// Normalizes the result of a conversion as the decoder and encoder of the new kind would: one kind omits a zero value that another
// prints.

import { type Json, type KubeObject, parseGroupVersion } from "../../../apimachinery/object.ts"
import { decodeObject, writeZeros } from "../../../apimachinery/schema/decode/decode.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"

/** Modifies and returns the object. */
export function normalized(object: KubeObject): KubeObject {
  const schema = schemaOf({ ...parseGroupVersion(object.apiVersion), kind: object.kind })
  if (schema === undefined) throw new Error(`no schema of ${object.apiVersion} ${object.kind}`)
  const value = object as unknown as Json
  decodeObject(schema, value, false, "decoded")
  writeZeros(schema, value)
  return object
}
