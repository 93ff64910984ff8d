// The StorageClass of volumes and claims. Source: k8s.io/component-helpers/storage/volume.

import type { PersistentVolume, PersistentVolumeClaim } from "../object.ts"

/** The older form of spec.storageClassName, which takes precedence. */
export const classAnnotation = "volume.beta.kubernetes.io/storage-class"

export const classOf = ({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ""

/** The class "" counts as well: it asks for a volume without a class. */
export const hasClass = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[classAnnotation] !== undefined || spec?.storageClassName !== undefined
