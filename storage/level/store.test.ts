import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { defaultLimits } from "../limits.ts"
import { storeSuite } from "../testing/store-suite/store-suite.ts"
import { ResidentBudget } from "./resident.ts"
import { openLevelStore } from "./store.ts"

let root = ""
let count = 0

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "polyplane-level-"))
})

afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

for (const [name, residentBytes] of [
  ["level store, in memory", defaultLimits.residentBytes],
  ["level store, from disk", 0],
  ["level store that outgrows memory", 1200],
  ["level store read into memory when it is listed", 1],
] as const) {
  storeSuite({
    name,
    open: ({ limits, ...options }) =>
      openLevelStore({
        ...options,
        limits: { ...limits, residentBytes },
        ...(residentBytes === 1 ? { residents: new ResidentBudget(4 * 1024 * 1024) } : {}),
        directory: join(root, String(count++)),
      }),
  })
}
