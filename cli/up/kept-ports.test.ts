import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { KeptPorts } from "./kept-ports.ts"

let directory: string
let file: string

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "polyplane-ports-"))
  file = path.join(directory, "new", "ports.json")
})
afterEach(() => rm(directory, { recursive: true }))

/** Servers that listen at `next` and the following ports if they may choose. */
function servers(next: number, taken: readonly number[] = []): (port: number) => Promise<{ port: number }> {
  return (port) =>
    taken.includes(port)
      ? Promise.reject(Object.assign(new Error("taken"), { code: "EADDRINUSE" }))
      : Promise.resolve({ port: port === 0 ? next++ : port })
}

async function startAll(
  names: readonly string[],
  start: (port: number) => Promise<{ port: number }>,
): Promise<number[]> {
  const ports = await KeptPorts.read(file)
  const found: number[] = []
  for (const name of names) found.push((await ports.start(name, start)).port)
  await ports.write()
  return found
}

test("servers keep their ports", async () => {
  expect(await startAll(["b", "a"], servers(1000))).toEqual([1000, 1001])
  expect(await startAll(["a", "b", "c"], servers(2000))).toEqual([1001, 1000, 2000])
})

test("servers get another port if theirs is taken, and keep that", async () => {
  await startAll(["a"], servers(1000))
  expect(await startAll(["a"], servers(2000, [1000]))).toEqual([2000])
  expect(await startAll(["a"], servers(3000))).toEqual([2000])
})

test.each(["", "[", "[1]", '{"a":"b"}', '{"a":0}', '{"a":65536}', '{"a":1.5}'])(
  "an invalid file is ignored: %s",
  async (text) => {
    file = path.join(directory, "ports.json")
    await writeFile(file, text)
    expect(await startAll(["a"], servers(1000))).toEqual([1000])
  },
)

test("another failure is thrown", async () => {
  await expect(startAll(["a"], () => Promise.reject(new Error("no memory")))).rejects.toThrow("no memory")
})
