// sort.Slice() of Go, which is not stable: where elements are equal, or have no order, its result depends on each of its steps. A
// pattern-defeating quicksort (https://arxiv.org/pdf/2106.05123.pdf) with Go's limits. Source: Go's package sort (zsortfunc.go).

/** Up to so many elements are inserted one by one. */
const maxInsertion = 12
/** From so many on, a pivot is the median of medians, and elements of a nearly sorted range are shifted. */
const longRange = 50
/** Elements out of order that are shifted before a range counts as not sorted. */
const maxShifts = 5
const maxSwaps = 12

type Hint = "unknown" | "increasing" | "decreasing"

/** `isLess` must not throw. */
export function sortSlice<T>(list: T[], isLess: (a: T, b: T) => boolean): void {
  new SliceSort(list, isLess).sort(0, list.length, bitLength(list.length))
}

const bitLength = (value: number): number => 32 - Math.clz32(value)

class SliceSort<T> {
  readonly #list: T[]
  readonly #isLess: (a: T, b: T) => boolean

  constructor(list: T[], isLess: (a: T, b: T) => boolean) {
    this.#list = list
    this.#isLess = isLess
  }

  /** `limit`: bad pivots before the range is sorted as a heap. */
  sort(from: number, to: number, limit: number): void {
    let [start, end, left, wasBalanced, wasPartitioned] = [from, to, limit, true, true]
    for (;;) {
      const length = end - start
      if (length <= maxInsertion) return this.#insert(start, end)
      if (left === 0) return this.#heapSort(start, end)
      if (!wasBalanced) {
        this.#scatter(start, end)
        left--
      }
      let [pivot, hint] = this.#choosePivot(start, end)
      if (hint === "decreasing") {
        this.#reverse(start, end)
        ;[pivot, hint] = [end - 1 - (pivot - start), "increasing"]
      }
      if (wasBalanced && wasPartitioned && hint === "increasing" && this.#isNearlySorted(start, end)) return
      if (start > 0 && !this.#less(start - 1, pivot)) {
        start = this.#partitionEqual(start, end, pivot)
        continue
      }
      const { middle, wasDone } = this.#partition(start, end, pivot)
      wasPartitioned = wasDone
      wasBalanced = Math.min(middle - start, end - middle) >= Math.floor(length / 8)
      if (middle - start < end - middle) {
        this.sort(start, middle, left)
        start = middle + 1
      } else {
        this.sort(middle + 1, end, left)
        end = middle
      }
    }
  }

  #less(a: number, b: number): boolean {
    return this.#isLess(this.#list[a] as T, this.#list[b] as T)
  }

  #swap(a: number, b: number): void {
    const kept = this.#list[a] as T
    this.#list[a] = this.#list[b] as T
    this.#list[b] = kept
  }

  #insert(start: number, end: number): void {
    for (let at = start + 1; at < end; at++) this.#shiftDown(at, start)
  }

  /** Towards the start, until the one before is not greater. */
  #shiftDown(from: number, start: number): void {
    for (let at = from; at > start && this.#less(at, at - 1); at--) this.#swap(at, at - 1)
  }

  #heapSort(start: number, end: number): void {
    const length = end - start
    for (let root = Math.floor((length - 1) / 2); root >= 0; root--) this.#sink(root, length, start)
    for (let last = length - 1; last >= 0; last--) {
      this.#swap(start, start + last)
      this.#sink(0, last, start)
    }
  }

  #sink(from: number, length: number, start: number): void {
    let root = from
    for (let child = 2 * root + 1; child < length; child = 2 * root + 1) {
      if (child + 1 < length && this.#less(start + child, start + child + 1)) child++
      if (!this.#less(start + root, start + child)) return
      this.#swap(start + root, start + child)
      root = child
    }
  }

  /** Moves smaller elements before the pivot, others behind it. */
  #partition(start: number, end: number, pivot: number): { middle: number; wasDone: boolean } {
    this.#swap(start, pivot)
    let [low, high, swapped] = [start + 1, end - 1, false]
    for (;;) {
      while (low <= high && this.#less(low, start)) low++
      while (low <= high && !this.#less(high, start)) high--
      if (low > high) break
      this.#swap(low++, high--)
      swapped = true
    }
    this.#swap(high, start)
    return { middle: high, wasDone: !swapped }
  }

  /** The same if none is smaller: equal elements are moved to the start. */
  #partitionEqual(start: number, end: number, pivot: number): number {
    this.#swap(start, pivot)
    let [low, high] = [start + 1, end - 1]
    for (;;) {
      while (low <= high && !this.#less(start, low)) low++
      while (low <= high && this.#less(start, high)) high--
      if (low > high) return low
      this.#swap(low++, high--)
    }
  }

  /** Sorts the range if only few elements are out of order. */
  #isNearlySorted(start: number, end: number): boolean {
    let at = start + 1
    for (let shift = 0; shift < maxShifts; shift++) {
      while (at < end && !this.#less(at, at - 1)) at++
      if (at === end) return true
      if (end - start < longRange) return false
      this.#swap(at, at - 1)
      // As Go, which goes on before the start of the range.
      if (at - start >= 2) this.#shiftDown(at - 1, 0)
      if (end - at >= 2) for (let up = at + 1; up < end && this.#less(up, up - 1); up++) this.#swap(up, up - 1)
    }
    return false
  }

  /** Breaks patterns that lead to bad pivots. */
  #scatter(start: number, end: number): void {
    const length = end - start
    const mask = (1n << BigInt(bitLength(length))) - 1n
    const middle = start + Math.floor(length / 4) * 2
    let random = BigInt(length)
    for (let at = middle - 1; at <= middle + 1; at++) {
      random = BigInt.asUintN(64, random ^ (random << 13n))
      random ^= random >> 7n
      random = BigInt.asUintN(64, random ^ (random << 17n))
      const other = Number(random & mask)
      this.#swap(at, start + (other >= length ? other - length : other))
    }
  }

  #choosePivot(start: number, end: number): [number, Hint] {
    const quarter = Math.floor((end - start) / 4)
    let swaps = 0
    const ordered = (a: number, b: number): [number, number] => {
      if (!this.#less(b, a)) return [a, b]
      swaps++
      return [b, a]
    }
    const median = (first: number, second: number, third: number): number => {
      const [low, high] = ordered(first, second)
      const [next] = ordered(high, third)
      return ordered(low, next)[1]
    }
    const around = (at: number): number => (end - start >= longRange ? median(at - 1, at, at + 1) : at)
    const [low, middle, high] = [around(start + quarter), around(start + 2 * quarter), around(start + 3 * quarter)]
    const pivot = median(low, middle, high)
    return [pivot, swaps === 0 ? "increasing" : swaps === maxSwaps ? "decreasing" : "unknown"]
  }

  #reverse(start: number, end: number): void {
    for (let [low, high] = [start, end - 1]; low < high; low++, high--) this.#swap(low, high)
  }
}
