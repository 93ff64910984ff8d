// What a quota's gate says (quota-gate.ts), and when there is room enough to leave it open.

import type { StoreQuota, Usage } from "../quota.ts"
import type { Revision } from "../types.ts"
import type { WireEvent } from "./wire.ts"

export interface Gate {
  /** The revision it was written at; 0: there is none yet, which is an open one without members. */
  revision: Revision
  /** Those who may write while it is open. Undefined: it is closed. */
  members: readonly string[] | undefined
}

/** What one member may have under way. A transaction that may grow by more closes the gate. */
const share: Usage = { objects: 64, bytes: 4 * 1024 * 1024 }
/** Beyond, whoever joins takes the place of the one that joined first, which has to join again. */
export const maxMembers = 64
/** Free again, it is opened. Well beyond what a few members need: otherwise it would open and close at each write. */
const reopenShares = 8

const closed = "closed"
const open = "open "

export const noGate: Gate = { revision: 0, members: [] }

export function encodeGate(members: readonly string[] | undefined): Buffer {
  return Buffer.from(members === undefined ? closed : `${open}${members.join(",")}`)
}

/** Anything else than an open one is closed: that is right whatever it is. */
export function decodeGate({ type, kv }: Pick<WireEvent, "type" | "kv">): Gate {
  if (type === 1) return noGate
  const text = kv.value.toString()
  const members = text.startsWith(open) ? text.slice(open.length).split(",") : undefined
  return { revision: kv.mod_revision, members }
}

/** Whether it is one that we write. */
export function isGate(value: Buffer): boolean {
  const text = value.toString()
  return text === closed || text.startsWith(open)
}

/** So many shares are free. */
export function hasRoom(used: Usage, shares: number, { maxObjects, maxBytes }: StoreQuota): boolean {
  return used.objects + shares * share.objects <= maxObjects && used.bytes + shares * share.bytes <= maxBytes
}

export function isWithinShare({ objects, bytes }: Usage): boolean {
  return objects <= share.objects && bytes <= share.bytes
}

/** The members of the gate that is written with what `used` is true after. */
export function gateAfter(used: Usage, member: string, quota: StoreQuota): readonly string[] | undefined {
  return hasRoom(used, reopenShares, quota) ? [member] : undefined
}
