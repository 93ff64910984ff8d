// Contents of a quota's gate (quota-gate.ts), and the condition for opening it.

import type { StoreQuota, Usage } from "../quota.ts"
import type { Revision } from "../types.ts"
import type { WireEvent } from "./wire.ts"

export interface Gate {
  /** The revision at which it was written; 0 if there is none yet, which is equivalent to an open gate without members. */
  revision: Revision
  /** The members that may write while the gate is open. Undefined: it is closed. */
  members: readonly string[] | undefined
}

/** Maximum growth in progress of one member. A transaction that may grow by more closes the gate. */
const share: Usage = { objects: 64, bytes: 4 * 1024 * 1024 }
/** At this number, a new member replaces the one that joined first, which must join again. */
export const maxMembers = 64
/** The gate is reopened when this many shares are free. More than a few members need, so that it does not open and close on each write. */
const reopenShares = 8

const closed = "closed"
const open = "open "

export const noGate: Gate = { revision: 0, members: [] }

export function encodeGate(members: readonly string[] | undefined): Buffer {
  return Buffer.from(members === undefined ? closed : `${open}${members.join(",")}`)
}

/** An unknown value counts as a closed gate, which is always correct. */
export function decodeGate({ type, kv }: Pick<WireEvent, "type" | "kv">): Gate {
  if (type === 1) return noGate
  const text = kv.value.toString()
  const members = text.startsWith(open) ? text.slice(open.length).split(",") : undefined
  return { revision: kv.mod_revision, members }
}

/** Whether the value is one that we write. */
export function isGate(value: Buffer): boolean {
  const text = value.toString()
  return text === closed || text.startsWith(open)
}

/** Whether this many shares are free. */
export function hasRoom(used: Usage, shares: number, { maxObjects, maxBytes }: StoreQuota): boolean {
  return used.objects + shares * share.objects <= maxObjects && used.bytes + shares * share.bytes <= maxBytes
}

export function isWithinShare({ objects, bytes }: Usage): boolean {
  return objects <= share.objects && bytes <= share.bytes
}

/** The members of the gate that is written in a transaction after which the usage is `used`. */
export function gateAfter(used: Usage, member: string, quota: StoreQuota): readonly string[] | undefined {
  return hasRoom(used, reopenShares, quota) ? [member] : undefined
}
