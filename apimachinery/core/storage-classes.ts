// The StorageClass of volumes and claims, and default classes. Source: k8s.io/component-helpers/storage/volume.

import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../object.ts"

export const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"
/** With the older one. Either marks a default StorageClass. */
export const defaultClassAnnotations = [defaultClassAnnotation, "storageclass.beta.kubernetes.io/is-default-class"]

/** The older form of spec.storageClassName, which takes precedence. */
export const classAnnotation = "volume.beta.kubernetes.io/storage-class"

export const classOf = ({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ""

/** The class "" counts as well: it asks for a volume without a class. */
export const hasClass = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[classAnnotation] !== undefined || spec?.storageClassName !== undefined

export function hasMark({ metadata }: KubeObject, annotations: readonly string[]): boolean {
  return annotations.some((annotation) => metadata.annotations?.[annotation] === "true")
}

/** Of several default classes the one created last; of equally old ones the first by name. */
export function defaultOf<T extends KubeObject>(classes: readonly T[], annotations: readonly string[]): T | undefined {
  const created = ({ metadata }: T): string => metadata.creationTimestamp ?? ""
  const marked = classes.filter((each) => hasMark(each, annotations))
  marked.sort((a, b) =>
    created(a) === created(b)
      ? (a.metadata.name ?? "") < (b.metadata.name ?? "")
        ? -1
        : 1
      : created(a) < created(b)
        ? 1
        : -1,
  )
  return marked[0]
}
