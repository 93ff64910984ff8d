// The Secrets that a pod needs. Source: k8s.io/kubernetes/pkg/api/v1/pod (VisitPodSecretNames).

import type { Pod } from "../../apimachinery/object.ts"

/** Every reference to a Secret in a pod is in one of these fields, or in a secretRef or secretKeyRef. */
const references = new Set(["secretRef", "secretKeyRef", "imagePullSecrets", "nodePublishSecretRef"])

export function mountedSecrets({ spec }: Pod): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (name: unknown): void => {
    if (typeof name === "string" && name !== "") found.add(name)
  }
  const visit = (value: unknown, key: string): void => {
    if (Array.isArray(value)) return value.forEach((item) => visit(item, key))
    if (typeof value !== "object" || value === null) return
    const { name, secretName } = value as { name?: unknown; secretName?: unknown }
    if (references.has(key)) add(name)
    // A projected source names the Secret in `name`, a volume in `secretName`; azureFile has secretName beside shareName.
    if (key === "secret" || key === "azureFile") add(secretName ?? (key === "secret" ? name : undefined))
    for (const [child, inner] of Object.entries(value)) visit(inner, child)
  }
  visit(spec, "")
  return found
}
