import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { HandshakeRests, networkOf, type ReadHandshake } from "./handshake-rests.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const KiB = 1024

function start() {
  const thread = { ms: 0 }
  const ended = vi.fn<() => void>()
  const rests = new HandshakeRests(ended, () => thread.ms)
  const begin = (party: string): ReadHandshake & { bytesRead: number } => {
    const handshake = { bytesRead: 500, party, workedBefore: 0, bytesBefore: 0 }
    rests.begin(handshake)
    return handshake
  }
  /** A handshake that has sent these bytes in all, and took this time. */
  const charge = (network: string, bytes: number, ms: number): void => {
    const handshake = begin(network)
    handshake.bytesRead = bytes
    thread.ms += ms
    rests.charge(handshake)
  }
  return { thread, ended, rests, begin, charge }
}

test("a network rests for five times as long as its handshake has taken", () => {
  const { ended, rests, charge } = start()
  charge("192.0.2.1", 20 * KiB, 100)
  expect([rests.has("192.0.2.1"), rests.has("192.0.2.2")]).toEqual([true, false])
  vi.advanceTimersByTime(499)
  expect([rests.has("192.0.2.1"), ended.mock.calls.length]).toEqual([true, 0])
  vi.advanceTimersByTime(1)
  expect([rests.has("192.0.2.1"), ended.mock.calls.length]).toEqual([false, 1])
})

test("a network is dear until a minute after its last rest", () => {
  const { rests, charge } = start()
  charge("192.0.2.1", 20 * KiB, 100)
  vi.advanceTimersByTime(60_000)
  charge("192.0.2.1", 20 * KiB, 100)
  vi.advanceTimersByTime(60_499)
  expect([rests.isDear("192.0.2.1"), rests.isDear("192.0.2.2")]).toEqual([true, false])
  vi.advanceTimersByTime(1)
  expect(rests.isDear("192.0.2.1")).toBe(false)
})

test.each([
  ["few bytes", 4 * KiB, 1_000],
  ["little time", 90 * KiB, 10],
  ["nothing read", 500, 1_000],
])("it does not after one with %s", (_, bytes, ms) => {
  const { rests, charge } = start()
  charge("192.0.2.1", bytes, ms)
  expect(rests.has("192.0.2.1")).toBe(false)
})

test("the longest rest counts, and has a limit", () => {
  const { ended, rests, charge } = start()
  charge("192.0.2.1", 20 * KiB, 10_000)
  charge("192.0.2.1", 20 * KiB, 60)
  vi.advanceTimersByTime(4_999)
  expect([rests.has("192.0.2.1"), ended.mock.calls.length]).toEqual([true, 0])
  vi.advanceTimersByTime(1)
  expect([rests.has("192.0.2.1"), ended.mock.calls.length]).toEqual([false, 1])
})

test("handshakes that are read at the same time are charged for their own time", () => {
  const { thread, rests, begin } = start()
  const handshakes = ["192.0.2.1", "192.0.2.2"].map(begin)
  for (const [index, ms] of [430, 10].entries()) {
    const handshake = handshakes[index]
    if (handshake === undefined) throw new Error("unreachable")
    handshake.bytesRead = 20 * KiB
    thread.ms += ms
    rests.charge(handshake)
  }
  expect([rests.has("192.0.2.1"), rests.has("192.0.2.2")]).toEqual([true, false])
})

test.each([
  [undefined, ""],
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::6", "2001:db8:1:2"],
  ["2001:db8:1::6", "2001:db8:1:0"],
  ["2001:db8::", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["1::2:3:4:5:6:7", "1:0:2:3"],
  ["fe80::1%eth0", "fe80:0:0:0"],
])("the network of %s is %s", (address, network) => {
  expect(networkOf(address)).toBe(network)
})
