// Names of signers: a domain and a path. Source: k8s.io/kubernetes/pkg/apis/core/validation ValidateSignerName.

import {
  type FieldError,
  type FieldPath,
  invalidValue,
  required,
  tooLong,
} from "../../../../apimachinery/field-errors.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import { messages } from "../../validation/values.ts"

const longestDomain = 253
/** A domain, a slash, and a path of a label, a dot and a subdomain. */
const longestName = longestDomain + 1 + 63 + 1 + 253

export function validateSignerName(at: FieldPath, name: string): FieldError[] {
  if (name === "") return [required(at)]
  if (name === "kubernetes.io/legacy-unknown") {
    return [invalidValue(at, name, "the legacy signerName is not allowed via this API version")]
  }
  const [domain = "", rest, ...more] = name.split("/")
  if (rest === undefined || more.length > 0)
    return [invalidValue(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const labels = domain.split(".")
  const twoSegments = "should be a domain with at least two segments separated by dots"
  return [
    ...(Buffer.byteLength(domain) > longestDomain ? [tooLong(at, "", longestDomain)] : []),
    ...firstFaults(at, domain, labels, validateDNS1123Label),
    ...(labels.length < 2 ? [invalidValue(at, domain, twoSegments)] : []),
    ...firstFaults(at, rest, rest.split("."), validateDNS1123Subdomain),
    ...(Buffer.byteLength(name) > longestName ? [tooLong(at, "", longestName)] : []),
  ]
}

/** The faults of the first label that has any. */
function firstFaults(
  at: FieldPath,
  value: string,
  labels: readonly string[],
  rule: (label: string) => string[],
): FieldError[] {
  for (const label of labels) {
    const faults = rule(label).map((fault) => `validating label ${goQuote(label)}: ${fault}`)
    if (faults.length > 0) return messages(at, value, faults)
  }
  return []
}
