// Weighted round robin over groups with queued keys, without groups that are processing their maximum number of keys.
// The cost of taking and adding a key does not depend on the number of groups.

export interface RoundRobinOptions {
  /** Number of keys a group may take per round; an integer, at least 1. Called when the group's turn begins. */
  weight?(group: string): number
  /** Maximum number of keys of a group being processed at the same time, at least 1. Default: unlimited. */
  maxWorking?: number | ((group: string) => number)
}

interface Group<K> {
  name: string
  /** Queued keys in order of arrival; those before `head` have been taken. */
  keys: (K | undefined)[]
  head: number
  /** Number of keys it may still take in this turn. */
  credit: number
  /** The group whose turn is next. */
  next: Group<K> | undefined
}

interface Taken<K> {
  group: string
  key: K
  /** It was the last queued key of the group. */
  isLast: boolean
}

/** Taken slots are removed if there are at least this many and they are half of the array, so taking is O(1) on average. */
const minTaken = 64

export class RoundRobin<K> {
  readonly #options: RoundRobinOptions
  /** Groups with queued keys; a group without keys is removed. */
  readonly #groups = new Map<string, Group<K>>()
  /** The same groups as a linked list in the order of their turns; the current group is the first. */
  #first: Group<K> | undefined
  #last: Group<K> | undefined
  /** Number of keys being processed, by group. */
  readonly #working = new Map<string, number>()
  /** Groups with queued keys that are processing their maximum: they get no turn until one of their keys is done. */
  readonly #parked = new Set<Group<K>>()
  #size = 0

  constructor(options: RoundRobinOptions) {
    this.#options = options
  }

  /** Number of queued keys of all groups. */
  get size(): number {
    return this.#size
  }

  /** take() would return a key. */
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

  /** Returns the key whose turn it is and counts it as being processed. */
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

  /** A key of the group has been processed. */
  done(name: string): void {
    const left = (this.#working.get(name) ?? 1) - 1
    if (left === 0) this.#working.delete(name)
    else this.#working.set(name, left)
    const group = this.#groups.get(name)
    if (group === undefined || !this.#parked.has(group) || this.#isFull(name)) return
    this.#parked.delete(group)
    this.#link(group)
  }

  /** Removes its queued keys; done() must still be called for those being processed. */
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

  /** After a key was taken and others are queued: the group stays first, is parked, or moves to the end. */
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
    // The current group is the first one: only remove() walks the list.
    for (let at = this.#first; at !== undefined && at !== group; at = at.next) before = at
    if (before === undefined) this.#first = group.next
    else before.next = group.next
    if (this.#last === group) this.#last = before
    group.next = undefined
  }
}
