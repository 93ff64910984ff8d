import { expect, test } from "vitest"
import { silentLog } from "../log.ts"
import { FairQueue } from "./fair-queue.ts"
import { runWorkers } from "./workers.ts"

interface Key {
  tenant: string
  name: string
}

test.each([
  ["that take long", 2],
  ["whose turn comes late", 0],
])("keys of one tenant %s do not delay another's", async (_what, begun) => {
  const queue = new FairQueue<Key>({
    identify: ({ tenant, name }) => `${tenant}/${name}`,
    group: ({ tenant }) => tenant,
    maxWorking: 2,
  })
  const ending = new AbortController()
  const blocked = Promise.withResolvers<void>()
  const seen: string[] = []
  const running = runWorkers<Key>({
    queue,
    workers: 2,
    name: "test",
    log: silentLog,
    signal: ending.signal,
    pause: ({ tenant }) => (tenant === "slow" && begun === 0 ? blocked.promise : undefined),
    async reconcile({ tenant, name }) {
      seen.push(`${tenant}/${name}`)
      if (tenant === "slow") await blocked.promise
    },
  })
  for (let index = 0; index < 10; index++) queue.add({ tenant: "slow", name: String(index) })
  for (let index = 0; index < 3; index++) queue.add({ tenant: "quick", name: String(index) })
  await expect.poll(() => seen.filter((key) => key.startsWith("quick/"))).toHaveLength(3)
  expect(seen.filter((key) => key.startsWith("slow/"))).toHaveLength(begun)
  blocked.resolve()
  await expect.poll(() => seen).toHaveLength(13)
  ending.abort()
  await running
  expect(queue.processing).toBe(0)
})

/** One worker, whose keys wait for `release` before they are reconciled. */
function startPausing() {
  const queue = new FairQueue<string>({ identify: (key) => key, group: () => "" })
  const ending = new AbortController()
  const waiting: PromiseWithResolvers<void>[] = []
  const seen: string[] = []
  const running = runWorkers<string>({
    queue,
    workers: 1,
    name: "test",
    log: silentLog,
    signal: ending.signal,
    pause: (key) => {
      if (key === "quick") return undefined
      const pause = Promise.withResolvers<void>()
      waiting.push(pause)
      return pause.promise
    },
    reconcile: (key) => {
      seen.push(key)
      return Promise.resolve()
    },
  })
  const end = async (): Promise<void> => {
    ending.abort()
    waiting.shift()?.resolve()
    await running
    expect(queue.processing).toBe(0)
  }
  return { queue, waiting, seen, end }
}

test("a key is reconciled when its pause has ended, once for all that it was added for until then", async () => {
  const { queue, waiting, seen, end } = startPausing()
  queue.add("quick")
  queue.add("slow")
  await expect.poll(() => waiting).toHaveLength(1)
  expect(seen).toEqual(["quick"])
  queue.add("slow")
  queue.add("quick")
  waiting.shift()?.resolve()
  await expect.poll(() => seen).toEqual(["quick", "slow", "quick"])
  await expect.poll(() => queue.processing).toBe(0)
  expect([queue.size, waiting.length]).toEqual([0, 0])
  await end()
})

test("a key that is in its pause when all ends is not reconciled", async () => {
  const { queue, waiting, seen, end } = startPausing()
  queue.add("slow")
  await expect.poll(() => waiting).toHaveLength(1)
  await end()
  expect(seen).toEqual([])
})
