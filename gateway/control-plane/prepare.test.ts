import { expect, test, vi } from "vitest"
import { silentLog } from "../../client/log.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import type { ControlPlane } from "./control-plane.ts"
import { Preparing } from "./prepare.ts"

const key = "/registry/core/configmaps/kube-system/kept"

async function start(prepare: (write: () => Promise<unknown>) => Promise<unknown>) {
  const store = createMemoryStore()
  const ending = new AbortController()
  const write = (of = key) =>
    store.txn({ compare: [], operations: [{ type: "put", key: of, value: Buffer.from("{}") }] })
  const preparation = {
    isBegun: () => Promise.resolve(false),
    prepare: vi.fn(async () => void (await prepare(write))),
    keys: new Set([key]),
    isRepeatedAfter: () => true,
  }
  const controlPlane = { store, tenant: undefined } as unknown as ControlPlane
  const { signal } = ending
  const preparing = new Preparing({ controlPlane, preparation, readyMs: 1000, signal, log: silentLog })
  await preparing.inTime()
  return {
    preparing,
    prepare: preparation.prepare,
    write,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await preparing.end()
      await store[Symbol.asyncDispose]()
    },
  }
}

test("a preparation that writes nothing is not repeated until others write", async () => {
  await using started = await start(() => Promise.resolve())
  const { prepare, write, preparing } = started
  await write("/registry/core/configmaps/kube-system/other")
  await write()
  await expect.poll(() => prepare.mock.calls.length).toBe(2)
  await expect.poll(() => preparing.isDone).toBe(true)
})

test("who always changes what is kept does so against ever fewer corrections", async () => {
  await using started = await start(() => Promise.resolve())
  const { prepare, write, preparing } = started
  const end = performance.now() + 1_000
  while (performance.now() < end) {
    await write()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(prepare.mock.calls.length).toBeGreaterThan(3)
  expect(prepare.mock.calls.length).toBeLessThan(12)
  // It may fall asleep meanwhile.
  await expect.poll(() => preparing.isUnderWay).toBe(false)
})
