// Claims and volumes in use are not deleted under those who use them: a finalizer holds them, which the protection controllers
// take away. Source: k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection.

import type { AdmissionPlugin } from "../chain.ts"
import { isOf, objectAs } from "./refuse.ts"

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumeclaims: "kubernetes.io/pvc-protection",
  persistentvolumes: "kubernetes.io/pv-protection",
}

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",

  async mutate(_ctx, attributes) {
    const { resource, operation } = attributes
    const finalizer = finalizers[resource.resource]
    if (finalizer === undefined || operation !== "CREATE" || !isOf(attributes, "", resource.resource)) return
    const { metadata } = objectAs(attributes)
    if (metadata.finalizers?.includes(finalizer) === true) return
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
  },
}
