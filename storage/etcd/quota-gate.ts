// Enforces the quota of a store exactly, with any number of writing processes. Each process knows the usage from the feed, but not
// the writes that are in progress in others. One key of the store, the gate, coordinates them:
//
//   open m1,m2   there is room: each named member may have up to one share of growth in progress that the feed has not delivered to
//                it yet, and writes only while one share for every member is free. Writes only compare the gate's revision, so they
//                do not wait for each other.
//   closed       there is little room: every write that grows compares the gate and also writes it. So these writes are serialized,
//                and each one knows all previous ones.
//
// Writing the gate makes all writes fail that began under the previous gate; they read the state again and are retried. Correctness:
// under an open gate, when less than all shares is free, only writes already in progress can still take effect, and they grow by at
// most all shares. Under a closed gate, only writes that do not grow can take effect between a read and its write.

import { setTimeout as delay } from "node:timers/promises"
import { usageAfter, usageOf, type StoreQuota, type Usage } from "../quota.ts"
import {
  StorageError,
  type KeyValue,
  type Operation,
  type Revision,
  type StoreEvent,
  type Transaction,
  type TransactionResult,
} from "../types.ts"
import { decodeGate, encodeGate, gateAfter, hasRoom, isWithinShare, maxMembers, type Gate } from "./gate.ts"
import type { Compare, RequestOp, WireEvent } from "./wire.ts"

/** Comparisons in addition to the caller's, and operations in addition to its own. */
export interface Condition {
  compare: Compare[]
  success: RequestOp[]
}

export interface Committed {
  /** Undefined if the condition did not hold although the comparisons did. The feed has delivered the current state. */
  result?: TransactionResult
  /** An attempt whose response was lost may still take effect. */
  isRepeated: boolean
}

/** The store of the gate. */
export interface GatedStore {
  readonly gateKey: Buffer
  /** Writes the gate if the comparison holds. When it resolves, the feed has delivered the current gate. */
  rewriteGate(compare: Compare, value: Buffer): Promise<void>
  commit(transaction: Transaction, condition: Condition): Promise<Committed>
  /** Current values; the feed has delivered them. */
  read(keys: readonly string[]): Promise<readonly (KeyValue | undefined)[]>
  /** A comparison that holds if the value that was read is unchanged. */
  unchanged(key: string, found: KeyValue | undefined): Compare
  /** The usage and the gate at one revision, which the feed has reached. */
  count(prefix: string): Promise<{ used: Usage; gate: Gate; revision: Revision }>
}

/** Valid from `revision` until the feed delivers a change. */
export interface Known {
  used: Usage
  gate: Gate
  revision: Revision
}

const stepMs = 4
const maxStepMs = 100

interface Change {
  revision: Revision
  grown: Usage
  gate: Gate | undefined
}

export interface QuotaGateParts {
  quota: StoreQuota
  /** Identifies this store in this process; no other one writes under this name. */
  member: string
  store: GatedStore
  /** From the time when the store was last open, if nothing has changed since. */
  known: Known | undefined
  /** All attempts of one write. When exceeded: Unavailable. */
  callMs: number
}

export class QuotaGate {
  readonly #parts: QuotaGateParts
  #known: Known | undefined
  #counting: { changes: Change[]; done: Promise<void> } | undefined
  /** Upper bound of this store's growth that the feed has not delivered yet. */
  readonly #underWay: Usage = { objects: 0, bytes: 0 }
  readonly #settled = new Set<() => void>()
  /** A write under the gate of this revision may still take effect without a response; before further writes the gate must be rewritten. */
  #astray: Revision | undefined
  /** Writes under a closed gate run one at a time. */
  #line: Promise<unknown> = Promise.resolve()

  constructor(parts: QuotaGateParts) {
    this.#parts = parts
    this.#known = parts.known
  }

  /** Undefined if the usage would have to be counted. */
  get known(): Known | undefined {
    return this.#known
  }

  get member(): string {
    return this.#parts.member
  }

  /** Whether no write is in progress or can still take effect: then another store may reuse the member name. */
  get isIdle(): boolean {
    return this.#underWay.objects === 0 && this.#astray === undefined
  }

  /** One transaction, delivered by the feed. */
  changed(events: readonly StoreEvent[], gateEvent: WireEvent | undefined, revision: Revision): void {
    const gate = gateEvent === undefined ? undefined : decodeGate(gateEvent)
    const grown = growthOf(events, this.#parts.quota)
    const change: Change = { revision, grown, gate }
    this.#counting?.changes.push(change)
    if (this.#known !== undefined) this.#known = apply(this.#known, change)
  }

  /** Called if changes were not delivered. */
  startAnew(): void {
    this.#known = undefined
    this.#counting = undefined
  }

  async write(transaction: Transaction): Promise<TransactionResult> {
    const { store, callMs, quota } = this.#parts
    const bound = boundOf(transaction.operations, quota)
    if (bound.objects === 0) return decided(await store.commit(transaction, { compare: [], success: [] }))
    const deadline = performance.now() + callMs
    for (let attempt = 1; ; attempt++) {
      const known = this.#known ?? (await this.#count())
      const result =
        known === undefined
          ? undefined
          : known.gate.members === undefined
            ? await this.#inLine(() => this.#writeClosed(transaction, attempt))
            : await this.#writeOpen(transaction, bound, known.gate)
      if (result !== undefined) return result
      if (performance.now() > deadline)
        throw new StorageError("Unavailable", "the quota could not be looked up in time: others write as well")
    }
  }

  async #writeOpen(transaction: Transaction, bound: Usage, gate: Gate): Promise<TransactionResult | undefined> {
    const { quota, member, store } = this.#parts
    const members = gate.members ?? []
    const isMember = members.includes(member) && this.#astray !== gate.revision
    const shares = isMember ? members.length : Math.min(members.length + 1, maxMembers)
    const used = this.#known?.used
    if (used === undefined) return undefined
    if (!isWithinShare(bound) || !hasRoom(used, shares, quota)) return this.#rewrite(gate, undefined)
    if (!isMember) {
      const others = members.filter((each) => each !== member)
      return this.#rewrite(gate, [...others.slice(1 - maxMembers), member])
    }
    if (!isWithinShare(sum(this.#underWay, bound))) return this.#settle()
    this.#begin(bound)
    let isKnown = false
    try {
      const { result, isRepeated } = await store.commit(transaction, { compare: [this.#unmoved(gate)], success: [] })
      isKnown = !isRepeated
      return result
    } finally {
      if (!isKnown) this.#astray = gate.revision
      this.#end(bound)
    }
  }

  async #writeClosed(transaction: Transaction, attempt: number): Promise<TransactionResult | undefined> {
    const { quota, store, member } = this.#parts
    if (this.#known?.gate.members !== undefined) return undefined
    // Another process was faster. Random delays that grow with the attempts reduce contention.
    if (attempt > 1) await delay(Math.random() * Math.min(attempt * stepMs, maxStepMs))
    const keys = transaction.operations.map(({ key }) => key).filter((key) => key.startsWith(quota.prefix))
    const found = await store.read(keys)
    const known = this.#known
    if (known === undefined || known.gate.members !== undefined) return undefined
    const previous = new Map(keys.map((key, index) => [key, found[index]]))
    const compare = [this.#unmoved(known.gate), ...keys.map((key) => store.unchanged(key, previous.get(key)))]
    let used: Usage
    try {
      const events = transaction.operations.map((operation) => eventOf(operation, previous.get(operation.key)))
      used = usageAfter(known.used, events, quota, transaction.leaving === true)
    } catch (error) {
      // The caller's comparisons take precedence, and the values read must still be current.
      const { result } = await store.commit({ ...transaction, operations: [] }, { compare, success: [] })
      if (result?.succeeded !== true) return result
      throw error
    }
    const next = encodeGate(gateAfter(used, member, quota))
    const success: RequestOp[] = [{ request_put: { key: store.gateKey, value: next } }]
    return (await store.commit(transaction, { compare, success })).result
  }

  /** Always returns undefined, so that the caller checks the new state. */
  async #rewrite(gate: Gate, members: readonly string[] | undefined): Promise<undefined> {
    await this.#parts.store.rewriteGate(this.#unmoved(gate), encodeGate(members))
    return undefined
  }

  #unmoved({ revision }: Gate): Compare {
    return { result: 0, target: 2, key: this.#parts.store.gateKey, mod_revision: revision }
  }

  async #inLine<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(work)
    this.#line = turn.catch(() => undefined) // reported to the caller of that turn
    return turn
  }

  #begin({ objects, bytes }: Usage): void {
    this.#underWay.objects += objects
    this.#underWay.bytes += bytes
  }

  #end({ objects, bytes }: Usage): void {
    this.#underWay.objects -= objects
    this.#underWay.bytes -= bytes
    for (const settled of this.#settled) settled()
    this.#settled.clear()
  }

  /** Waits until another write ends. */
  async #settle(): Promise<undefined> {
    await new Promise<void>((resolve) => this.#settled.add(resolve))
    return undefined
  }

  /** Undefined if the feed was interrupted in the meantime. */
  async #count(): Promise<Known | undefined> {
    const counting = this.#counting ?? this.#startCounting()
    await counting.done
    return this.#known
  }

  #startCounting(): { done: Promise<void> } {
    const changes: Change[] = []
    const counting = { changes, done: Promise.resolve() }
    this.#counting = counting
    counting.done = (async () => {
      try {
        const counted = await this.#parts.store.count(this.#parts.quota.prefix)
        if (this.#counting === counting) this.#known = changes.reduce(apply, counted)
      } finally {
        if (this.#counting === counting) this.#counting = undefined
      }
    })()
    return counting
  }
}

function apply(known: Known, { revision, grown, gate }: Change): Known {
  if (revision <= known.revision) return known
  return { used: sum(known.used, grown), gate: gate ?? known.gate, revision }
}

function sum(a: Usage, b: Usage): Usage {
  return { objects: a.objects + b.objects, bytes: a.bytes + b.bytes }
}

function growthOf(events: readonly StoreEvent[], quota: StoreQuota): Usage {
  const grown: Usage = { objects: 0, bytes: 0 }
  for (const { type, current, previous } of events) {
    const before = usageOf(previous, quota)
    const after = type === "put" ? usageOf(current, quota) : { objects: 0, bytes: 0 }
    grown.objects += after.objects - before.objects
    grown.bytes += after.bytes - before.bytes
  }
  return grown
}

/** Upper bound of the growth, independent of the previous values. */
function boundOf(operations: readonly Operation[], { prefix }: StoreQuota): Usage {
  const bound: Usage = { objects: 0, bytes: 0 }
  for (const operation of operations) {
    if (operation.type === "delete" || !operation.key.startsWith(prefix)) continue
    bound.objects++
    bound.bytes += Buffer.byteLength(operation.key) + operation.value.byteLength
  }
  return bound
}

function eventOf(operation: Operation, previous: KeyValue | undefined): StoreEvent {
  const { type, key } = operation
  const value = operation.type === "put" ? operation.value : new Uint8Array()
  const current = { key, value, createRevision: 0, modRevision: 0 }
  return previous === undefined ? { type, current } : { type, current, previous }
}

function decided({ result }: Committed): TransactionResult {
  if (result === undefined) throw new Error("a transaction without a condition failed for one")
  return result
}
