import type { Socket } from "node:net"
import { afterEach, beforeEach, expect, onTestFailed, test, vi } from "vitest"
import { chance, createRandom, pick, seeds } from "../../apimachinery/testing/random.ts"
import type { ReadHandshake } from "./handshake-rests.ts"
import { maxRead, SlowHandshakes } from "./slow-handshakes.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => void vi.useRealTimers())

class Handshake implements ReadHandshake {
  isRead = true
  bytesRead = 0
  workedBefore = 0
  bytesBefore = 0
  readonly party: string
  readonly socket = {
    _handle: { readStart: () => (this.isRead = true), readStop: () => (this.isRead = false) },
  } as unknown as Socket

  constructor(party: string) {
    this.party = party
  }
}

function start() {
  const resting = new Set<string>()
  const charged: ReadHandshake[] = []
  const slow = new SlowHandshakes<Handshake>({
    has: (party) => resting.has(String(party)),
    begin: () => undefined,
    charge: (handshake) => void charged.push(handshake),
  })
  /** That many of a network become slow. */
  const add = (network: string, count: number): Handshake[] => {
    const handshakes = Array.from({ length: count }, () => new Handshake(network))
    for (const handshake of handshakes) slow.add(handshake)
    return handshakes
  }
  return { slow, add, resting, charged }
}

const readOf = (handshakes: readonly Handshake[]): number[] =>
  handshakes.flatMap(({ isRead }, index) => (isRead ? [index] : []))

test("one of each network is read all the time while no network has more, and is charged now and then", () => {
  const { add, charged } = start()
  const handshakes = Array.from({ length: maxRead }, (_, index) => add(`192.0.2.${index}`, 1)).flat()
  for (let step = 0; step < 3; step++) {
    expect(readOf(handshakes)).toEqual([...handshakes.keys()])
    expect(charged).toHaveLength(step * handshakes.length)
    vi.advanceTimersByTime(20)
  }
})

test("those of a network take turns", () => {
  const { slow, add, charged } = start()
  const other = add("192.0.2.2", 1)
  const many = add("192.0.2.1", 3)
  const seen = Array.from({ length: 4 }, () => {
    const read = readOf(many)
    vi.advanceTimersByTime(1)
    return read
  })
  expect(seen).toEqual([[0], [0], [1], [2]]) // the first may have become slow just before its step
  expect(charged).toHaveLength(8)
  for (const handshake of many.splice(0, 2)) slow.delete(handshake)
  vi.advanceTimersByTime(1)
  expect([readOf(many), readOf(other)]).toEqual([[0], [0]])
  for (const handshake of [...many, ...other]) slow.delete(handshake)
  vi.advanceTimersByTime(20)
  expect(vi.getTimerCount()).toBe(0)
})

test("networks take turns", () => {
  const { add } = start()
  const handshakes = Array.from({ length: 3 * maxRead }, (_, index) => add(`192.0.2.${index}`, 1)).flat()
  const had = new Set<number>()
  const sizes = Array.from({ length: 4 }, () => {
    for (const index of readOf(handshakes)) had.add(index)
    vi.advanceTimersByTime(1)
    return had.size
  })
  expect(sizes).toEqual([1, 1, 2, 3].map((times) => times * maxRead))
})

test("nothing is read of a network that rests", () => {
  const { add, resting } = start()
  resting.add("192.0.2.1")
  const [rests, other] = [add("192.0.2.1", 2), add("192.0.2.2", 2)]
  vi.advanceTimersByTime(5)
  expect([readOf(rests), readOf(other).length]).toEqual([[], 1])
  resting.clear()
  resting.add("192.0.2.2")
  vi.advanceTimersByTime(1)
  expect([readOf(rests).length, readOf(other)]).toEqual([1, []])
})

test.each(seeds(50))("at most one of a network is read, and each has its turn (seed %i)", (seed) => {
  onTestFailed(() => console.log(`SEED=${seed}`))
  const random = createRandom(seed)
  const { slow, add, resting } = start()
  const networks = Array.from({ length: 2 * maxRead }, (_, index) => `192.0.2.${index}`)
  let all: Handshake[] = []
  for (let count = 0; count < 300; count++) {
    const network = pick(random, networks)
    if (chance(random, 0.4)) all.push(...add(network, 1))
    else if (chance(random, 0.3) && all.length > 0) {
      const ended = pick(random, all)
      slow.delete(ended)
      all = all.filter((handshake) => handshake !== ended)
    } else if (chance(random, 0.2)) resting.add(network)
    else if (chance(random, 0.5)) resting.delete(network)
    else vi.advanceTimersByTime(1)
    const read = all.filter(({ isRead }) => isRead).map((handshake) => handshake.party)
    expect(read.length).toBeLessThanOrEqual(maxRead)
    expect(new Set(read).size).toBe(read.length)
  }
  resting.clear()
  const had = new Set<Handshake>()
  for (let step = 0; step < all.length * networks.length; step++) {
    for (const handshake of all) if (handshake.isRead) had.add(handshake)
    vi.advanceTimersByTime(1)
  }
  expect(had.size).toBe(all.length)
})
