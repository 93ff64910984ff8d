// A claim may grow only if its storage class allows volume expansion. Source:
// k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize.

import { classOf } from "../../../apimachinery/core/storage-classes.ts"
import type { PersistentVolumeClaim, StorageClass } from "../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../apimachinery/quantity.ts"
import { storageClasses } from "../../../client/resources.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { find } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"

export const persistentVolumeClaimResize: AdmissionPlugin = {
  concerns: (attributes) => isOf(attributes, "", "persistentvolumeclaims") && attributes.operation === "UPDATE",

  async validate(ctx, attributes) {
    const claim = objectAs<PersistentVolumeClaim>(attributes)
    const before = attributes.current as PersistentVolumeClaim | undefined
    const [size, old] = [sizeOf(claim), before === undefined ? undefined : sizeOf(before)]
    if (size === undefined || old === undefined || compareQuantities(parseQuantity(size), parseQuantity(old)) <= 0)
      return
    if (before?.status?.phase !== "Bound")
      throw refuse(attributes, "Only bound persistent volume claims can be expanded")
    const name = classOf(claim)
    const isKept = name !== "" && name === classOf(before)
    const found = isKept ? await find<StorageClass>(ctx, storageClasses, "", name) : undefined
    if (found?.allowVolumeExpansion !== true) {
      throw refuse(
        attributes,
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
      )
    }
  },
}

function sizeOf(claim: PersistentVolumeClaim): string | undefined {
  return (claim.spec?.resources?.requests as Record<string, string> | undefined)?.["storage"]
}
