// What a store contains, in a simple form: an array of states by revision, and all events.

import { compareKeys } from "../key-order.ts"
import type { BaseLayer, KeyValue, Operation, StoreEvent, Transaction } from "../types.ts"

type State = ReadonlyMap<string, { value: string; create: number; mod: number }>

export class Model {
  /** By revision; states before `compacted + 1` are not used. */
  readonly states: State[] = [new Map(), new Map()]
  readonly events: { revision: number; text: string; key: string }[] = []
  compacted = 0

  constructor(base: BaseLayer | undefined) {
    const value = (key: string): string => Buffer.from(base?.value(key) ?? []).toString()
    this.states[1] = new Map((base?.keys ?? []).map((key) => [key, { value: value(key), create: 1, mod: 1 }]))
  }

  get revision(): number {
    return this.states.length - 1
  }

  at(revision: number): State {
    return this.states[revision] ?? new Map()
  }

  /** The entries of a range, in order. */
  list(prefix: string, revision: number, after?: string): string[] {
    return [...this.at(revision)]
      .filter(([key]) => key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0))
      .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map(([key, { value, create, mod }]) => `${key}=${value} ${create}/${mod}`)
  }

  get(key: string, revision: number): string[] {
    return this.list(key, revision).filter((text) => text.startsWith(`${key}=`))
  }

  compact(revision: number): void {
    this.compacted = Math.max(this.compacted, Math.min(revision, this.revision - 1))
  }

  apply({ compare, operations }: Transaction): { succeeded: boolean; revision: number } {
    const before = this.at(this.revision)
    if (!compare.every(({ key, modRevision }) => (before.get(key)?.mod ?? 0) === modRevision))
      return { succeeded: false, revision: this.revision }
    const after = new Map(before)
    const revision = this.revision + 1
    const texts: string[] = []
    for (const operation of operations) this.#write(after, operation, revision, texts)
    if (texts.length > 0) this.states.push(after)
    return { succeeded: true, revision: this.revision }
  }

  #write(
    state: Map<string, { value: string; create: number; mod: number }>,
    operation: Operation,
    revision: number,
    texts: string[],
  ): void {
    const { key } = operation
    const old = state.get(key)
    const was = old ? ` was ${old.value} ${old.create}/${old.mod}` : ""
    let text = ""
    if (operation.type === "put") {
      const entry = { value: Buffer.from(operation.value).toString(), create: old?.create ?? revision, mod: revision }
      state.set(key, entry)
      text = `put ${key}=${entry.value} ${entry.create}/${revision}${was}`
    } else {
      if (!old) return
      state.delete(key)
      text = `delete ${key}=${old.value} ${old.create}/${revision}${was}`
    }
    texts.push(text)
    this.events.push({ revision, text, key })
  }
}

const textOf = (value: Uint8Array): string => Buffer.from(value).toString()
export const showState = (kv: KeyValue): string =>
  `${kv.key}=${textOf(kv.value)} ${kv.createRevision}/${kv.modRevision}`
export const showEvent = ({ type, current, previous }: StoreEvent): string => {
  const was = previous ? ` was ${textOf(previous.value)} ${previous.createRevision}/${previous.modRevision}` : ""
  return `${type} ${showState(current)}${was}`
}
