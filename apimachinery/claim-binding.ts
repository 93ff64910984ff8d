// What a binder writes on the claims and volumes it has put together. Source: k8s.io/component-helpers/storage/volume.

import type { PersistentVolumeClaim } from "./object.ts"

/** On a claim: its volume has been found and knows it. */
export const bindCompleted = "pv.kubernetes.io/bind-completed"
/** On either: the binder has named the other, not a user. */
export const boundByController = "pv.kubernetes.io/bound-by-controller"

export const isBindingDone = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[bindCompleted] !== undefined
