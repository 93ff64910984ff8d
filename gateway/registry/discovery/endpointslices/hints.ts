// The zones and nodes for which an endpoint is intended. Source: k8s.io/kubernetes/pkg/apis/discovery/validation.

import { duplicate, type FieldError, type FieldPath, tooMany } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain, validateLabelValue } from "../../../../apimachinery/names.ts"
import { messages } from "../../validation/values.ts"

interface Hints {
  forZones?: readonly { name?: string }[]
  forNodes?: readonly { name?: string }[]
}

const most = 8

export function validateHints(at: FieldPath, { forZones = [], forNodes = [] }: Hints): FieldError[] {
  const errors = validateNames(at.child("forZones"), forZones, validateLabelValue)
  // With too many zones, nodes are not validated.
  if (forZones.length > most) return errors
  return [...errors, ...validateNames(at.child("forNodes"), forNodes, validateDNS1123Subdomain)]
}

function validateNames(
  at: FieldPath,
  items: readonly { name?: string }[],
  rule: (name: string) => string[],
): FieldError[] {
  if (items.length > most) return [tooMany(at, items.length, most)]
  return items.flatMap(({ name = "" }, index) => {
    const place = at.index(index).child("name")
    const isRepeated = items.slice(0, index).some((earlier) => (earlier.name ?? "") === name)
    return [...(isRepeated ? [duplicate(place, name)] : []), ...messages(place, name, rule(name))]
  })
}
