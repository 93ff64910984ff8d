// Resource claims of a pod: by the name of a ResourceClaim or of a template. Source: k8s.io/kubernetes/pkg/apis/core/validation
// (validatePodResourceClaims, validatePodResourceClaimStatuses).

import {
  asJson,
  duplicate,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { PodStatus } from "../../../../apimachinery/object.ts"
import { messages } from "../../validation/values.ts"
import type { PodSpec } from "./types.ts"

type Claim = NonNullable<PodSpec["resourceClaims"]>[number]

/** The kubelet makes a mirrored pod from its file, without asking for claims. */
export function validatePodClaims(path: FieldPath, claims: readonly Claim[] = [], isMirrored = false): FieldError[] {
  if (isMirrored)
    return claims.map(() => forbiddenField(FieldPath.root(""), "static pods do not support resource claims"))
  const seen = new Set<string>()
  return claims.flatMap((claim, index) => {
    const at = path.index(index)
    const { name } = claim
    const errors = validateName(at.child("name"), name, seen)
    if (name && !seen.has(name)) seen.add(name)
    return [...errors, ...validateReference(at, claim)]
  })
}

function validateName(path: FieldPath, name: string | undefined, seen: ReadonlySet<string>): FieldError[] {
  if (!name) return [required(path)]
  return seen.has(name) ? [duplicate(path, name)] : messages(path, name, validateDNS1123Label(name))
}

/** Exactly one of the two names must be set. */
function validateReference(path: FieldPath, claim: Claim): FieldError[] {
  const { name, resourceClaimName: own, resourceClaimTemplateName: template } = claim
  const shown = { Name: name, ResourceClaimName: own ?? null, ResourceClaimTemplateName: template ?? null }
  const errors: FieldError[] = []
  if (own !== undefined && template !== undefined) {
    const detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
    errors.push(invalidValue(path, shown, detail))
  }
  if (own === undefined && template === undefined) {
    errors.push(invalidValue(path, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
  }
  return [
    ...errors,
    ...subdomain(path.child("resourceClaimName"), own),
    ...subdomain(path.child("resourceClaimTemplateName"), template),
  ]
}

function subdomain(path: FieldPath, name: string | undefined): FieldError[] {
  return name === undefined ? [] : messages(path, name, validateDNS1123Subdomain(name))
}

type ClaimStatus = Partial<NonNullable<PodStatus["resourceClaimStatuses"]>[number]>

/** The names of the claims that were generated for the pod. */
export function validateClaimStatuses(
  path: FieldPath,
  statuses: readonly ClaimStatus[] | undefined,
  claims: readonly Claim[] = [],
): FieldError[] {
  const names = new Set(claims.map((claim) => claim.name))
  const seen = new Set<string>()
  return (statuses ?? []).flatMap(({ name = "", resourceClaimName }, index) => {
    const at = path.index(index)
    const errors: FieldError[] = []
    if (!names.has(name)) {
      errors.push(invalidValue(at.child("name"), name, "must match the name of an entry in `spec.resourceClaims`"))
    }
    if (seen.has(name)) errors.push(duplicate(at.child("name"), name))
    seen.add(name)
    const place = at.child("resourceClaimName")
    if (resourceClaimName === undefined) return errors
    return [...errors, ...messages(place, asJson(resourceClaimName), validateDNS1123Subdomain(resourceClaimName))]
  })
}
