// Formats in the schemas of a CustomResourceDefinition that nobody knows: they are warned about, and mean nothing. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go.

import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"
import type { Definition } from "../types.ts"
import { walkSchemas } from "./walk.ts"

const ofStrings: ReadonlySet<string> = new Set(
  (
    "bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor " +
    "rgbcolor byte password date duration datetime k8sshortname k8slongname"
  ).split(" "),
)
const ofOthers: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
}

/** Each once, in the order they are found. */
export function unknownFormats({ spec }: Definition): string[] {
  const found = new Set<string>()
  for (const { schema } of spec?.versions ?? []) {
    walkSchemas(schema?.openAPIV3Schema, (node) => {
      const { format } = node
      if (typeof format === "string" && format !== "" && !isKnown(node, format)) found.add(format)
    })
  }
  return [...found]
}

function isKnown(schema: JsonObject, format: string): boolean {
  const type = isObject(schema) && typeof schema["type"] === "string" ? schema["type"] : ""
  return type === "" || type === "string"
    ? ofStrings.has(format.replaceAll("-", ""))
    : (ofOthers[type]?.includes(format) ?? false)
}
