// Validates references to CSI drivers by name. Source: k8s.io/kubernetes/pkg/apis/core/validation ValidateCSIDriverName.

import { type FieldError, type FieldPath, required, tooLong } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import { messages } from "../../validation/values.ts"

const longest = 63

export function driverName(at: FieldPath, name = ""): FieldError[] {
  if (name === "") return [required(at)]
  return [
    ...(Buffer.byteLength(name) > longest ? [tooLong(at, name, longest)] : []),
    ...messages(at, name, validateDNS1123Subdomain(name.toLowerCase())),
  ]
}
