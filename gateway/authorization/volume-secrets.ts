// The Secrets that a PersistentVolume names for kubelets. Source: k8s.io/kubernetes/pkg/api/v1/persistentvolume/util.go.

import type { PersistentVolume } from "../../apimachinery/object.ts"

interface SecretReference {
  namespace: string
  name: string
}

/** Some references without a namespace are to the claim's. Secrets for a driver's controller are not for kubelets. */
export function visibleSecrets({ spec = {} }: PersistentVolume): SecretReference[] {
  const { azureFile, cinder, storageos, csi, claimRef } = spec
  const own = claimRef?.namespace ?? ""
  const inClaims = (spec.cephfs ?? spec.flexVolume ?? spec.rbd ?? spec.scaleIO ?? spec.iscsi)?.secretRef
  const references = [
    { name: azureFile?.secretName, namespace: azureFile?.secretNamespace || own },
    { name: inClaims?.name, namespace: inClaims?.namespace || own },
    cinder?.secretRef,
    storageos?.secretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
  ]
  return references.flatMap((reference) => {
    const { name, namespace = "" } = reference ?? {}
    return name === undefined || name === "" ? [] : [{ name, namespace }]
  })
}
