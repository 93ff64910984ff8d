import { spawn } from "node:child_process"
import { once } from "node:events"
import { describe, expect, test } from "vitest"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { stateOf, watchBeats, type ProcessState } from "./heartbeat.ts"

/** A process that responds to the given number of beats and has the states that `state` returns. */
async function watch(answers: number, state: (look: number) => ProcessState, turns = 1000) {
  const clock = new FakeClock()
  const ending = new AbortController()
  const hangs: string[] = []
  let looks = 0
  let beats = 0
  const watching = watchBeats({
    beat: () => (beats++ < answers ? Promise.resolve() : new Promise(() => undefined)),
    look: () => Promise.resolve(state(looks++)),
    hung: (why) => hangs.push(why),
    signal: ending.signal,
    clock,
  })
  let isOver = false
  void watching.then(() => (isOver = true))
  for (let turn = 0; turn < turns && !isOver; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(250)
  }
  ending.abort()
  await watching
  return { hangs, looks, beats }
}

describe("watchBeats()", () => {
  test("a responsive process is not inspected", async () => {
    expect(await watch(Infinity, () => "stopped", 50)).toMatchObject({ hangs: [], looks: 0 })
  })

  test("a stopped process hangs, and is reported once", async () => {
    expect(await watch(3, () => "stopped")).toEqual({ hangs: ["it has been stopped"], looks: 4, beats: 4 })
  })

  test("a process that was stopped and continues gets more time", async () => {
    const { hangs, looks } = await watch(0, (look) => (look % 4 === 3 ? "alive" : "stopped"))
    expect([hangs, looks]).toEqual([["it has not answered for 30 seconds"], 120])
  })

  test.each(["alive", "unknown"] as const)("a process that is %s has half a minute to respond", async (state) => {
    expect((await watch(1, () => state)).hangs).toEqual(["it has not answered for 30 seconds"])
    expect((await watch(1, () => state, 100)).hangs).toEqual([])
  })
})

describe("stateOf()", () => {
  test.runIf(process.platform === "linux")("distinguishes a stopped process from a running one", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" })
    try {
      const { pid = 0 } = child
      expect(await stateOf(pid)).toBe("alive")
      child.kill("SIGSTOP")
      await expect.poll(() => stateOf(pid)).toBe("stopped")
      child.kill("SIGCONT")
      await expect.poll(() => stateOf(pid)).toBe("alive")
    } finally {
      const exited = once(child, "exit")
      child.kill("SIGKILL")
      await exited
    }
    expect(await stateOf(2 ** 30)).toBe("unknown")
  })
})
