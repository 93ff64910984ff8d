// Whose turn it is: groups with waiting keys in weighted round robin, but for those that have as many in work as they may.
// Taking and adding a key cost the same however many groups there are.

export interface RoundRobinOptions {
  /** How many keys a group may take in one round; whole, at least 1. Asked when the group's turn begins. */
  weight?(group: string): number
  /** Keys of one group in work at the same time, at least 1. Default: any. */
  maxWorking?: number | ((group: string) => number)
}

interface Group<K> {
  name: string
  /** Waiting keys in order of arrival; those before `head` are taken. */
  keys: (K | undefined)[]
  head: number
  /** How many more it may take in this turn. */
  credit: number
  /** Whose turn comes after it. */
  next: Group<K> | undefined
}

interface Taken<K> {
  group: string
  key: K
  /** It was the group's last one. */
  isLast: boolean
}

/** From so many taken slots on they are given back once they are half of the array, which keeps taking O(1) on average. */
const minTaken = 64

export class RoundRobin<K> {
  readonly #options: RoundRobinOptions
  /** Groups with waiting keys; one that empties is dropped. */
  readonly #groups = new Map<string, Group<K>>()
  /** The same groups in the order of their turns, linked; the first one's turn it is. */
  #first: Group<K> | undefined
  #last: Group<K> | undefined
  /** How many of each group are in work. */
  readonly #working = new Map<string, number>()
  /** Groups with waiting keys that have as many in work as they may: they have no turns until one is done. */
  readonly #parked = new Set<Group<K>>()
  #size = 0

  constructor(options: RoundRobinOptions) {
    this.#options = options
  }

  /** Waiting keys of all groups. */
  get size(): number {
    return this.#size
  }

  /** It is somebody's turn: take() answers a key. */
  get hasTurn(): boolean {
    return this.#first !== undefined
  }

  sizeOf(group: string): number {
    const found = this.#groups.get(group)
    return found === undefined ? 0 : found.keys.length - found.head
  }

  isWorking(group: string): boolean {
    return this.#working.has(group)
  }

  add(name: string, key: K): void {
    const group = this.#groups.get(name)
    if (group !== undefined) group.keys.push(key)
    else this.#append({ name, keys: [key], head: 0, credit: 0, next: undefined })
    this.#size++
  }

  /** The key whose turn it is, which then is in work. */
  take(): Taken<K> | undefined {
    const group = this.#first
    if (group === undefined) return undefined
    const { name } = group
    if (group.credit <= 0) group.credit = Math.max(1, Math.floor(this.#options.weight?.(name) ?? 1))
    const key = group.keys[group.head] as K
    group.keys[group.head++] = undefined
    group.credit--
    this.#size--
    this.#working.set(name, (this.#working.get(name) ?? 0) + 1)
    const isLast = group.head === group.keys.length
    if (isLast) this.#unlink(group)
    else this.#endTurn(group)
    return { group: name, key, isLast }
  }

  /** One of the group's keys is not in work any more. */
  done(name: string): void {
    const left = (this.#working.get(name) ?? 1) - 1
    if (left === 0) this.#working.delete(name)
    else this.#working.set(name, left)
    const group = this.#groups.get(name)
    if (group === undefined || !this.#parked.has(group) || this.#isFull(name)) return
    this.#parked.delete(group)
    this.#link(group)
  }

  /** Its waiting keys go; those in work are done() all the same. */
  remove(name: string): void {
    const group = this.#groups.get(name)
    if (group === undefined) return
    this.#size -= group.keys.length - group.head
    this.#unlink(group)
  }

  clear(): void {
    this.#groups.clear()
    this.#parked.clear()
    this.#first = undefined
    this.#last = undefined
    this.#size = 0
  }

  /** After a key was taken, and others wait: the group stays the first, is parked, or goes to the end. */
  #endTurn(group: Group<K>): void {
    if (group.head > minTaken && group.head * 2 > group.keys.length) {
      group.keys.splice(0, group.head)
      group.head = 0
    }
    const isFull = this.#isFull(group.name)
    if (!isFull && (group.credit > 0 || group.next === undefined)) return
    this.#first = group.next
    if (this.#last === group) this.#last = undefined
    group.next = undefined
    if (!isFull) return this.#link(group)
    group.credit = 0
    this.#parked.add(group)
  }

  #isFull(name: string): boolean {
    const { maxWorking } = this.#options
    const working = this.#working.get(name)
    if (maxWorking === undefined || working === undefined) return false
    return working >= (typeof maxWorking === "number" ? maxWorking : maxWorking(name))
  }

  #append(group: Group<K>): void {
    this.#groups.set(group.name, group)
    if (this.#isFull(group.name)) this.#parked.add(group)
    else this.#link(group)
  }

  #link(group: Group<K>): void {
    if (this.#last === undefined) this.#first = group
    else this.#last.next = group
    this.#last = group
  }

  #unlink(group: Group<K>): void {
    this.#groups.delete(group.name)
    if (this.#parked.delete(group)) return
    let before: Group<K> | undefined
    // The group whose turn it is is the first one: only remove() walks.
    for (let at = this.#first; at !== undefined && at !== group; at = at.next) before = at
    if (before === undefined) this.#first = group.next
    else before.next = group.next
    if (this.#last === group) this.#last = before
    group.next = undefined
  }
}
