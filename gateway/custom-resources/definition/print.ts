// Prints the versions of a definition like Go in error messages: the structs in kube-apiserver's memory, with every field in order.
// Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/types.go.

import type { CustomResourceVersion, PrinterColumn } from "../types.ts"
import { printSchema } from "../../../apimachinery/schema/structural/print-schema.ts"
import { commonParts, type Part } from "./validate-version.ts"

/** In memory, the parts that all versions share are not in the versions. */
export function printVersions(versions: readonly CustomResourceVersion[]): unknown[] {
  const common = commonParts(versions)
  const of = (version: CustomResourceVersion, part: Part): unknown =>
    common.includes(part) ? null : (version[part] ?? null)
  return versions.map((version) => ({
    Name: version.name ?? "",
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: of(version, "schema") && { OpenAPIV3Schema: printSchema(version.schema?.openAPIV3Schema) },
    Subresources: of(version, "subresources") && printSubresources(version),
    AdditionalPrinterColumns:
      of(version, "additionalPrinterColumns") && version.additionalPrinterColumns?.map(printColumn),
    SelectableFields:
      of(version, "selectableFields") && version.selectableFields?.map(({ jsonPath = "" }) => ({ JSONPath: jsonPath })),
  }))
}

function printSubresources({ subresources }: CustomResourceVersion): unknown {
  const { status = null, scale } = subresources ?? {}
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = null } = scale ?? {}
  return {
    Status: status,
    Scale:
      scale === undefined
        ? null
        : {
            SpecReplicasPath: specReplicasPath,
            StatusReplicasPath: statusReplicasPath,
            LabelSelectorPath: labelSelectorPath,
          },
  }
}

function printColumn({
  name = "",
  type = "",
  format = "",
  description = "",
  priority = 0,
  jsonPath = "",
}: PrinterColumn): unknown {
  return { Name: name, Type: type, Format: format, Description: description, Priority: priority, JSONPath: jsonPath }
}
