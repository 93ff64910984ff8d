// Adds a finalizer to claims, volumes and volume attributes classes, so that they are not deleted while in use; the protection
// controllers remove it. Source: k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { objectAs } from "./refuse.ts"

/** By group/resource. */
const finalizers: Readonly<Record<string, string>> = dictionary({
  "/persistentvolumeclaims": "kubernetes.io/pvc-protection",
  "/persistentvolumes": "kubernetes.io/pv-protection",
  "storage.k8s.io/volumeattributesclasses": "kubernetes.io/vac-protection",
})

export const storageObjectInUseProtection: AdmissionPlugin = {
  concerns: (attributes) =>
    attributes.operation === "CREATE" && attributes.subresource === "" && finalizerOf(attributes) !== undefined,

  async mutate(_ctx, attributes) {
    const finalizer = finalizerOf(attributes)
    if (finalizer === undefined) return
    const { metadata } = objectAs(attributes)
    if (metadata.finalizers?.includes(finalizer) === true) return
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
  },
}

function finalizerOf({ resource }: AdmissionAttributes): string | undefined {
  return finalizers[`${resource.group}/${resource.resource}`]
}
