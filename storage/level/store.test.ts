import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { storeSuite } from "../testing/store-suite.ts"
import { openLevelStore } from "./store.ts"

let root = ""
let count = 0

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "polyplane-level-"))
})

afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

storeSuite({
  name: "level store",
  open: (options) => openLevelStore({ ...options, directory: join(root, String(count++)) }),
})
