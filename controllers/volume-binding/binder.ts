// What the reconciles of claims and of volumes share.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import type { Controller, ControllerContext } from "../context.ts"

/** What is known of a volume that is being emptied. */
export interface Recycling {
  /** The pod at work, and which of its events have been passed on. */
  pod?: { uid: string; told: Set<string> }
  /** Why it failed last, while the volume does not say so yet. */
  untold?: string
  failures: number
  notBefore: number
}

/** By tenant, then by the volume's name. */
export type Recyclings = Map<string, Map<string, Recycling>>

export interface Binder {
  ctx: ControllerContext
  claims: Controller<PersistentVolumeClaim>
  volumes: Controller<PersistentVolume>
  recyclings: Recyclings
}
