// Shared by the reconcilers of claims and of volumes.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import type { Controller, Key } from "../controller.ts"

/** State of a volume that is being recycled. */
export interface Recycling {
  /** The recycler pod, and the uids of its events that have been copied to the volume. */
  pod?: { uid: string; copiedEvents: Set<string> }
  /** Message of the last failure, until it is written to the volume. */
  unreported?: string
  failures: number
  notBefore: number
}

/** By tenant, then by volume name. */
export type Recyclings = Map<string, Map<string, Recycling>>

export interface Binder {
  ctx: ControllerContext
  claims: Controller<PersistentVolumeClaim>
  volumes: Controller<PersistentVolume>
  /** Of the reconcile. */
  actor: Actor
  recyclings: Recyclings
  /** Volumes that a reconcile is just binding to a claim that it has found them for, with the claims that found none because of that. */
  taken: Map<string, Key[]>
}
