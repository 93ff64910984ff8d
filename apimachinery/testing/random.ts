// Random choices for tests that a printed seed repeats.

/** Whole numbers from 0 to below `below`; the same seed gives the same row. */
export type Random = (below: number) => number

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

export function pick<T>(random: Random, items: readonly T[]): T {
  if (items.length === 0) throw new Error("nothing to pick from")
  return items[random(items.length)] as T
}

/** `probability` from 0 to 1. */
export function chance(random: Random, probability: number): boolean {
  return random(2 ** 32) < probability * 2 ** 32
}

/** SEED in the environment, or a new one. Tests print it when they fail. */
export function seedOf(environment = process.env["SEED"]): number {
  return Number(environment ?? Math.floor(Math.random() * 2 ** 31))
}

/** The same for as many runs; SEED repeats one. */
export function seeds(count: number): number[] {
  const given = process.env["SEED"]
  return given === undefined ? Array.from({ length: count }, () => seedOf()) : [Number(given)]
}
