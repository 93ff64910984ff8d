// The objects of its namespace that a pod refers to. Source: k8s.io/kubernetes/pkg/api/v1/pod (VisitPodSecretNames and others).

import type { Pod } from "../object.ts"
import { byName } from "../repeats.ts"

/** Every reference to a Secret in a pod is in one of these fields, or in a volume's `secret` or `azureFile`. */
const secretFields = new Set(["secretRef", "secretKeyRef", "imagePullSecrets", "nodePublishSecretRef"])
const configMapFields = new Set(["configMap", "configMapRef", "configMapKeyRef"])

export function mountedSecrets({ spec }: Pod): ReadonlySet<string> {
  return namesIn(spec, (key, { name, secretName }) => {
    if (secretFields.has(key)) return name
    // A projected source names the Secret in `name`, a volume in `secretName`; azureFile has secretName beside shareName.
    return key === "secret" ? (secretName ?? name) : key === "azureFile" ? secretName : undefined
  })
}

export function mountedConfigMaps({ spec }: Pod): ReadonlySet<string> {
  return namesIn(spec, (key, { name }) => (configMapFields.has(key) ? name : undefined))
}

/** PersistentVolumeClaims, also those of ephemeral volumes. */
export function mountedClaims({ metadata, spec }: Pod): ReadonlySet<string> {
  const found = new Set<string>()
  for (const { name, persistentVolumeClaim, ephemeral } of spec?.volumes ?? []) {
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? "" : `${metadata.name}-${name}`)
    if (claim !== "") found.add(claim)
  }
  return found
}

/** ResourceClaims, also those that were made from a template or for extended resources. */
export function usedResourceClaims({ spec, status }: Pod): ReadonlySet<string> {
  const found = new Set<string>()
  const made = byName(status?.resourceClaimStatuses ?? [])
  for (const { name, resourceClaimName, resourceClaimTemplateName } of spec?.resourceClaims ?? []) {
    const ofTemplate = resourceClaimTemplateName === undefined ? undefined : made.get(name)?.resourceClaimName
    const claim = resourceClaimName ?? ofTemplate
    if (claim) found.add(claim)
  }
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName
  if (extended) found.add(extended)
  return found
}

type Named = { name?: unknown; secretName?: unknown }

/** The names in the objects below `spec`, each of which is a field or an item of a field. */
function namesIn(spec: unknown, nameOf: (field: string, value: Named) => unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (value: unknown, field: string): void => {
    if (Array.isArray(value)) return value.forEach((item) => visit(item, field))
    if (typeof value !== "object" || value === null) return
    const name = nameOf(field, value)
    if (typeof name === "string" && name !== "") found.add(name)
    for (const [child, inner] of Object.entries(value)) visit(inner, child)
  }
  visit(spec, "")
  return found
}
