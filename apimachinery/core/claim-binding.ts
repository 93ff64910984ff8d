// The annotations that a binder writes on bound claims and volumes. Source: k8s.io/component-helpers/storage/volume.

import type { PersistentVolumeClaim } from "../object.ts"

/** On a claim: binding is complete on both sides. */
export const bindCompleted = "pv.kubernetes.io/bind-completed"
/** On either: the binder, not a user, chose the other one. */
export const boundByController = "pv.kubernetes.io/bound-by-controller"

export const isBindingDone = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[bindCompleted] !== undefined
