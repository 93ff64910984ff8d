// Random choices that a printed seed repeats.

export interface Random {
  /** 0 ≤ n < below. */
  integer(below: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

/** mulberry32 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (below: number): number => Math.floor(next() * below)
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => items[integer(items.length)]!,
  }
}

/** SEED repeats one; otherwise as many new ones. */
export function seeds(count: number): number[] {
  const given = process.env["SEED"]
  if (given !== undefined) return [Number(given)]
  return Array.from({ length: count }, () => Math.floor(Math.random() * 2 ** 31))
}
