import type { Socket } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { NewConnections } from "./new-connections.ts"

const never = 2 ** 30
const address = "192.0.2.1"
/** What a tenant has free in a second. */
const free = 20

/** A line of handshakes in which others wait for as long as they are told to. */
function lineOf() {
  const callbacks: ((network: string) => void)[] = []
  const line = {
    isBusy: true,
    isWaiting: (of: string) => line.isBusy && of === address,
    whenEmpty: (callback: (network: string) => void) => void callbacks.push(callback),
    empty() {
      line.isBusy = false
      for (const callback of callbacks) callback(address)
    },
  }
  return line
}

const socket = (remoteAddress = address): Socket => ({ remoteAddress }) as Socket
const [greedy, other] = [{ name: "greedy" }, { name: "other" }]

function start(patienceMs = never) {
  const connections = new NewConnections({ patienceMs }, () => 0)
  const line = lineOf()
  connections.follow(line)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const take = (who: { name: string }, from = socket()): boolean => {
    const waiting = connections.take(who, from, (callback) => ends.push(callback))
    void waiting?.then(() => begun.push(who.name))
    return waiting === undefined
  }
  const exhaust = (who: { name: string }): void => {
    for (let count = 0; count < free; count++) expect(take(who)).toBe(true)
  }
  return { line, begun, ends, take, exhaust }
}

test("first requests beyond what is free wait while connections from their address wait for handshakes", async () => {
  const { line, begun, take, exhaust } = start()
  const known = socket()
  exhaust(greedy)
  line.isBusy = false
  expect(take(greedy, known)).toBe(true)
  line.isBusy = true
  expect(take(greedy, known)).toBe(true)
  expect(take(greedy, socket("192.0.2.2"))).toBe(true)
  expect(take(other)).toBe(true)
  expect(take(greedy)).toBe(false)
  await nextTurn()
  expect(begun).toEqual([])
  line.empty()
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  expect(begun).toEqual(["greedy"])
  expect(take(greedy)).toBe(true)
})

test("they continue one per turn of the event loop, in round robin over tenants, and stop when handshakes wait again", async () => {
  const { line, begun, take, exhaust } = start()
  for (const who of [greedy, other]) exhaust(who)
  for (let count = 0; count < 4; count++) for (const who of [greedy, other]) take(who)
  for (let count = 0; count < 3; count++) line.empty()
  await nextTurn()
  await nextTurn()
  await nextTurn()
  line.isBusy = true
  await nextTurn()
  const { length } = begun
  expect(length).toBeGreaterThan(1)
  expect(length).toBeLessThanOrEqual(3)
  expect(begun.slice(0, 2)).toEqual(["greedy", "other"])
  await nextTurn()
  expect(begun).toHaveLength(length)
})

test("they wait for a limited time, and one that has ended waits no more", async () => {
  const { begun, ends, take, exhaust } = start(20)
  exhaust(greedy)
  take(greedy)
  take(greedy)
  ends[0]?.()
  await nextTurn()
  expect(begun).toHaveLength(1)
  await expect.poll(() => begun.length).toBe(2)
})
