// The quota of a store that any number of processes write to, kept exactly. What is used each knows from the feed, so the only
// question is what the others are writing at this moment. One key of the store, the gate, answers it:
//
//   open m1,m2   there is room: each member named may have a share of growth under way that it has not heard of itself, and
//                writes only when that much for every member is still free. Writes compare the gate's revision, no more, so
//                they do not wait for each other.
//   closed       there is little room: whatever grows compares the gate and writes it. So it comes one after the other, each
//                knowing all before it.
//
// Whoever writes the gate makes all writes fail that were begun under the one before; they look again and are tried anew. Why
// it holds: under an open gate, once less than all shares is free, only what was under way before can still come, and that
// is at most all shares. Under a closed one nothing but what shrinks can come between looking and writing.

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

/** What must hold beside the caller's comparisons, and is written beside its operations. */
export interface Condition {
  compare: Compare[]
  success: RequestOp[]
}

export interface Committed {
  /** Undefined: the condition did not hold, though the comparisons did. The feed has told what is there instead. */
  result?: TransactionResult
  /** An attempt whose answer was lost may still happen. */
  isRepeated: boolean
}

/** The store behind it. */
export interface GatedStore {
  readonly gateKey: Buffer
  /** When the comparison holds. The feed has told what is there then. */
  rewriteGate(compare: Compare, value: Buffer): Promise<void>
  commit(transaction: Transaction, condition: Condition): Promise<Committed>
  /** Values as they are now; the feed has told as much. */
  read(keys: readonly string[]): Promise<readonly (KeyValue | undefined)[]>
  /** What is comparable of a value that was read. */
  unchanged(key: string, found: KeyValue | undefined): Compare
  /** Everything that counts at one revision. The feed has told as much. */
  count(prefix: string): Promise<{ used: Usage; gate: Gate; revision: Revision }>
}

/** True at `revision` and until something else is told. */
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
  /** Of this store in this process: no other writes under it. */
  member: string
  store: GatedStore
  /** From when the store was open before, when nothing has changed since. */
  known: Known | undefined
  /** All attempts of one write. Beyond: Unavailable. */
  callMs: number
}

export class QuotaGate {
  readonly #parts: QuotaGateParts
  #known: Known | undefined
  #counting: { changes: Change[]; done: Promise<void> } | undefined
  /** Growth of this store's that the feed has not told yet, at most. */
  readonly #underWay: Usage = { objects: 0, bytes: 0 }
  readonly #settled = new Set<() => void>()
  /** Under the gate of this revision a write may still come of which nobody knows: the next one must be waited for. */
  #astray: Revision | undefined
  /** Under a closed gate one after the other. */
  #line: Promise<unknown> = Promise.resolve()

  constructor(parts: QuotaGateParts) {
    this.#parts = parts
    this.#known = parts.known
  }

  /** Undefined: it would have to be counted. */
  get known(): Known | undefined {
    return this.#known
  }

  get member(): string {
    return this.#parts.member
  }

  /** Nothing is under way, nor can anything come: another may write under its name. */
  get isIdle(): boolean {
    return this.#underWay.objects === 0 && this.#astray === undefined
  }

  /** One transaction, told by the feed. */
  changed(events: readonly StoreEvent[], gateEvent: WireEvent | undefined, revision: Revision): void {
    const gate = gateEvent === undefined ? undefined : decodeGate(gateEvent)
    const grown = growthOf(events, this.#parts.quota)
    if (grown === undefined) return this.startAnew()
    const change: Change = { revision, grown, gate }
    this.#counting?.changes.push(change)
    if (this.#known !== undefined) this.#known = apply(this.#known, change)
  }

  /** Something was not told. */
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
    // Another process was faster: the more there are, the longer each steps back, and at different times.
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
      // The caller's comparisons come first, and what was read must be what is used.
      const { result } = await store.commit({ ...transaction, operations: [] }, { compare, success: [] })
      if (result?.succeeded !== true) return result
      throw error
    }
    const next = encodeGate(gateAfter(used, member, quota))
    const success: RequestOp[] = [{ request_put: { key: store.gateKey, value: next } }]
    return (await store.commit(transaction, { compare, success })).result
  }

  /** Always undefined: what is there then has to be looked at. */
  async #rewrite(gate: Gate, members: readonly string[] | undefined): Promise<undefined> {
    await this.#parts.store.rewriteGate(this.#unmoved(gate), encodeGate(members))
    return undefined
  }

  #unmoved({ revision }: Gate): Compare {
    return { result: 0, target: 2, key: this.#parts.store.gateKey, mod_revision: revision }
  }

  async #inLine<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(work)
    this.#line = turn.catch(() => undefined) // told to whoever waits for that turn
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

  /** Something else ends first. */
  async #settle(): Promise<undefined> {
    await new Promise<void>((resolve) => this.#settled.add(resolve))
    return undefined
  }

  /** Undefined: the feed has lost its thread meanwhile. */
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

/** Undefined: what was there before has been compacted. */
function growthOf(events: readonly StoreEvent[], quota: StoreQuota): Usage | undefined {
  const grown: Usage = { objects: 0, bytes: 0 }
  for (const { type, current, previous } of events) {
    if (previous === undefined && current.createRevision !== current.modRevision) return undefined
    const before = usageOf(previous, quota)
    const after = type === "put" ? usageOf(current, quota) : { objects: 0, bytes: 0 }
    grown.objects += after.objects - before.objects
    grown.bytes += after.bytes - before.bytes
  }
  return grown
}

/** What it grows by at most, whatever was there. */
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
