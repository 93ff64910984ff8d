// Unknown formats in the schemas of a CustomResourceDefinition: they cause warnings and have no effect. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go.

import { isFormatOf } from "../../../apimachinery/schema/formats.ts"
import type { Definition } from "../types.ts"
import { walkSchemas } from "./walk.ts"

/** Each once, in the order of occurrence. */
export function unknownFormats({ spec }: Definition): string[] {
  const found = new Set<string>()
  for (const { schema } of spec?.versions ?? []) {
    walkSchemas(schema?.openAPIV3Schema, (node) => {
      const { format } = node
      if (typeof format === "string" && format !== "" && !isFormatOf(node["type"], format)) found.add(format)
    })
  }
  return [...found]
}
