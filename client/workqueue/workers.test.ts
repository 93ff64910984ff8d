import { expect, test } from "vitest"
import { silentLog } from "../log.ts"
import { FairQueue } from "./fair-queue.ts"
import { runWorkers } from "./workers.ts"

interface Key {
  tenant: string
  name: string
}

test("slow keys of one tenant do not delay another's", async () => {
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
    async reconcile({ tenant, name }) {
      seen.push(`${tenant}/${name}`)
      if (tenant === "slow") await blocked.promise
    },
  })
  for (let index = 0; index < 10; index++) queue.add({ tenant: "slow", name: String(index) })
  for (let index = 0; index < 3; index++) queue.add({ tenant: "quick", name: String(index) })
  await expect.poll(() => seen.filter((key) => key.startsWith("quick/"))).toHaveLength(3)
  expect(seen.filter((key) => key.startsWith("slow/"))).toHaveLength(2)
  blocked.resolve()
  await expect.poll(() => seen).toHaveLength(13)
  ending.abort()
  await running
  expect(queue.processing).toBe(0)
})
