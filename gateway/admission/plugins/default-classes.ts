// Sets the default class of claims and ingresses without a class, if there is one. Source:
// k8s.io/kubernetes/plugin/pkg/admission/{storage/storageclass/setdefault,network/defaultingressclass}.

import { hasClass } from "../../../apimachinery/core/storage-classes.ts"
import type { KubeObject, PersistentVolumeClaim } from "../../../apimachinery/object.ts"
import { ingressClasses, storageClasses } from "../../../client/resources.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { listAll } from "./lookup.ts"
import { isOf, objectAs } from "./refuse.ts"

const storageMark = "storageclass.kubernetes.io/is-default-class"
const betaStorageMark = "storageclass.beta.kubernetes.io/is-default-class"
const ingressMark = "ingressclass.kubernetes.io/is-default-class"
const betaIngressClass = "kubernetes.io/ingress.class"

export const defaultStorageClass: AdmissionPlugin = {
  concerns: (attributes) => isOf(attributes, "", "persistentvolumeclaims") && attributes.operation === "CREATE",

  async mutate(ctx, attributes) {
    const claim = objectAs<PersistentVolumeClaim>(attributes)
    if (hasClass(claim)) return
    const name = newest(await listAll(ctx, storageClasses), storageMark, betaStorageMark)
    if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name }
  },
}

export const defaultIngressClass: AdmissionPlugin = {
  concerns: (attributes) => isOf(attributes, "networking.k8s.io", "ingresses") && attributes.operation === "CREATE",

  async mutate(ctx, attributes) {
    const ingress = objectAs<KubeObject & { spec?: { ingressClassName?: string } }>(attributes)
    if (ingress.spec?.ingressClassName !== undefined) return
    if (ingress.metadata.annotations?.[betaIngressClass] !== undefined) return
    const name = newest(await listAll(ctx, ingressClasses), ingressMark)
    if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name }
  },
}

/** Of several default classes the one created last; of equally old ones the first by name. */
function newest(classes: readonly KubeObject[], ...marks: string[]): string | undefined {
  const marked = classes.filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === "true"))
  const key = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? ""
  marked.sort((a, b) =>
    key(a) === key(b) ? ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1) : key(a) < key(b) ? 1 : -1,
  )
  return marked[0]?.metadata.name
}
