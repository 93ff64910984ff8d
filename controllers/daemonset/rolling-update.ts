// Plans a rolling update: which old daemon pods are deleted, and on which nodes new ones are created beside them. Pure.
// Source: k8s.io/kubernetes/pkg/controller/daemon/update.go (rollingUpdate).

import type { Pod } from "../../apimachinery/object.ts"
import { scaled } from "../deployment/replicas.ts"
import { isTerminating } from "../pods/pod-state.ts"
import type { DaemonSet } from "./types.ts"
import type { Place } from "./placement.ts"

export interface Plan {
  /** Names of nodes. */
  create: string[]
  remove: Pod[]
}

interface Update {
  set: DaemonSet
  places: readonly Place[]
  /** Number of nodes that need a daemon pod. */
  wanted: number
  isUpdated(pod: Pod): boolean
  isAvailable(pod: Pod): boolean
}

/** A place with at most one pod of the current template and at most one old pod. */
interface Site {
  place: Place
  fresh: Pod | undefined
  old: Pod | undefined
}

/** Whether some of `of` nodes may temporarily have two daemon pods. */
export function surges({ spec }: DaemonSet, of: number): boolean {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {}
  return type !== "OnDelete" && scaled(rollingUpdate?.maxSurge, of, true) > 0
}

export function planUpdate(update: Update, plan: Plan): void {
  const sites: Site[] = []
  // If a place has several pods of one kind, the surplus is deleted first; until then it counts as being updated.
  let unclear = 0
  for (const place of update.places) {
    if (!place.run && place.pods.length === 0) continue
    const living = place.pods.filter((pod) => !isTerminating(pod))
    const [fresh, ...others] = living.filter((pod) => update.isUpdated(pod))
    const [old, ...older] = living.filter((pod) => !update.isUpdated(pod))
    if (others.length + older.length > 0) unclear++
    else sites.push({ place, fresh, old })
  }
  if (surges(update.set, update.wanted)) planSurge(update, sites, unclear, plan)
  else planReplacement(update, sites, unclear, plan)
}

/** Deletes old pods, at most as many as may be unavailable. New ones are created when they are gone. */
function planReplacement(update: Update, sites: readonly Site[], unclear: number, { remove }: Plan): void {
  const { maxUnavailable = 1 } = update.set.spec?.updateStrategy?.rollingUpdate ?? {}
  const least = update.wanted > 0 ? 1 : 0
  let room = Math.max(least, scaled(maxUnavailable, update.wanted, true)) - unclear
  const candidates: Pod[] = []
  for (const { fresh, old } of sites) {
    const only = fresh ?? old
    if (only === undefined || (fresh !== undefined && old !== undefined) || !update.isAvailable(only)) room--
    if (old === undefined || fresh !== undefined) continue
    // Replacing an unavailable pod does not reduce availability.
    if (update.isAvailable(old)) candidates.push(old)
    else remove.push(old)
  }
  remove.push(...candidates.slice(0, Math.max(0, room)))
}

/** Creates new pods beside the old ones, at most as many as maxSurge allows. */
function planSurge(update: Update, sites: readonly Site[], unclear: number, { create, remove }: Plan): void {
  const { maxSurge } = update.set.spec?.updateStrategy?.rollingUpdate ?? {}
  let room = scaled(maxSurge, update.wanted, true) - unclear
  let available = 0
  const candidates: string[] = []
  const misplaced: Pod[] = []
  for (const { place, fresh, old } of sites) {
    const counted = old ?? fresh
    if (counted !== undefined && update.isAvailable(counted)) available++
    if (old === undefined || !place.isThere) continue
    if (fresh !== undefined) {
      if (update.isAvailable(fresh)) remove.push(old)
      else room--
    } else if (update.isAvailable(old)) {
      if (place.run) candidates.push(place.node)
      else misplaced.push(old)
    } else if (place.run) create.push(place.node)
    else remove.push(old)
  }
  // A pod on a node that needs none is deleted if enough others are available.
  remove.push(...misplaced.slice(0, Math.max(0, available - update.wanted)))
  create.push(...candidates.slice(0, Math.max(0, room)))
}
