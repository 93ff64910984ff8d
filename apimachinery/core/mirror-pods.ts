// Mirror pods: what a kubelet writes to the API of a pod whose source is a file of its node.

import type { ObjectMeta } from "../object.ts"
import { ownValue } from "../schema/json-object.ts"

export const mirrorAnnotation = "kubernetes.io/config.mirror"

export function isMirror({ annotations }: ObjectMeta): boolean {
  return ownValue(annotations, mirrorAnnotation) !== undefined
}
