import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const module = new URL("memory-at-rest.mjs", import.meta.url).href

/** Allocates many objects, drops them, and idles until the heap has shrunk; prints the heap size before and after. */
const program = `
  await import(${JSON.stringify(module)})
  const kept = []
  for (let index = 0; index < 1_000_000; index++) kept.push({ name: "object " + index })
  const before = process.memoryUsage().heapTotal
  kept.length = 0
  while (process.memoryUsage().heapTotal > before / 2) await new Promise((resolve) => setTimeout(resolve, 100))
  console.log(JSON.stringify({ before, after: process.memoryUsage().heapTotal }))
`

test("an idle process returns unused memory", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
  const { before, after } = JSON.parse(stdout) as { before: number; after: number }
  expect(after).toBeLessThan(before / 2)
}, 120_000)
