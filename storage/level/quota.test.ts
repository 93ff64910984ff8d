import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { BaseLayer } from "../types.ts"
import { quotaSuite } from "../testing/quota-suite.ts"
import { checkDirectory } from "./check.ts"
import { openLevelStore } from "./store.ts"

async function begin() {
  const directory = await mkdtemp(join(tmpdir(), "polyplane-quota-"))
  return {
    open: (options: Omit<Parameters<typeof openLevelStore>[0], "directory">) =>
      openLevelStore({ directory, ...options }),
    check: (base: BaseLayer) => checkDirectory(directory, { base }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

quotaSuite({ name: "a level store's quota", begin })

test("a rejected transaction of a group does not consume a revision", async () => {
  await using place = await begin()
  const quota = { prefix: "/registry/", maxObjects: 3, maxBytes: 1000, reserveBytes: 100 }
  await using store = await place.open({ quota })
  const before = store.revision
  const put = (key: string, bytes: number) =>
    store.txn({ compare: [], operations: [{ type: "put", key, value: Buffer.alloc(bytes) }] })
  await Promise.allSettled([put("/registry/a", 10), put("/registry/big", 2000), put("/registry/b", 10)])
  expect(store.revision).toBe(before + 2)
})
