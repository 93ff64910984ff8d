// What the reconciles of claims and of volumes share.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import type { Controller, ControllerContext } from "../context.ts"

export interface Binder {
  ctx: ControllerContext
  claims: Controller<PersistentVolumeClaim>
  volumes: Controller<PersistentVolume>
}

export const bindCompleted = "pv.kubernetes.io/bind-completed"
export const boundByController = "pv.kubernetes.io/bound-by-controller"

export const isBindingDone = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[bindCompleted] !== undefined
