// Sets the default class of claims and ingresses without a class, if there is one. Source:
// k8s.io/kubernetes/plugin/pkg/admission/{storage/storageclass/setdefault,network/defaultingressclass}.

import { defaultClassAnnotations, defaultOf, hasClass } from "../../../apimachinery/core/storage-classes.ts"
import type { KubeObject, PersistentVolumeClaim } from "../../../apimachinery/object.ts"
import { ingressClasses, storageClasses } from "../../../client/resources.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { listAll } from "./lookup.ts"
import { isOf, objectAs } from "./refuse.ts"

const ingressMark = "ingressclass.kubernetes.io/is-default-class"
const betaIngressClass = "kubernetes.io/ingress.class"

export const defaultStorageClass: AdmissionPlugin = {
  concerns: (attributes) => isOf(attributes, "", "persistentvolumeclaims") && attributes.operation === "CREATE",

  async mutate(ctx, attributes) {
    const claim = objectAs<PersistentVolumeClaim>(attributes)
    if (hasClass(claim)) return
    const found = defaultOf(await listAll(ctx, storageClasses), defaultClassAnnotations)
    if (found !== undefined) claim.spec = { ...claim.spec, storageClassName: found.metadata.name ?? "" }
  },
}

export const defaultIngressClass: AdmissionPlugin = {
  concerns: (attributes) => isOf(attributes, "networking.k8s.io", "ingresses") && attributes.operation === "CREATE",

  async mutate(ctx, attributes) {
    const ingress = objectAs<KubeObject & { spec?: { ingressClassName?: string } }>(attributes)
    if (ingress.spec?.ingressClassName !== undefined) return
    if (ingress.metadata.annotations?.[betaIngressClass] !== undefined) return
    const found = defaultOf(await listAll(ctx, ingressClasses), [ingressMark])
    if (found !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: found.metadata.name ?? "" }
  },
}
