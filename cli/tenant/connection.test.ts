import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { writeKubeconfig, writeOutput } from "./connection.ts"

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "connection-"))
})
afterEach(() => rm(directory, { recursive: true }))

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777

test.each([
  ["of the data directory", writeKubeconfig],
  ["given as output", writeOutput],
])("a file %s is readable only by its owner, also if it replaces an open one", async (_what, write) => {
  const file = path.join(directory, "a.kubeconfig")
  await writeFile(file, "a longer text from before", { mode: 0o644 })
  await write(file, "key")
  expect([await readFile(file, "utf8"), await modeOf(file)]).toEqual(["key", 0o600])
  expect(await readdir(directory)).toEqual(["a.kubeconfig"])
})

test("a file in the data directory is replaced atomically", async () => {
  const file = path.join(directory, "tenants", "a.kubeconfig")
  const texts = ["a", "b"].map((letter) => letter.repeat(1_000_000))
  await writeKubeconfig(file, texts[0] ?? "")
  const writing = (async () => {
    for (let time = 0; time < 20; time++) await writeKubeconfig(file, texts[time % 2] ?? "")
  })()
  let isWriting = true
  const written = writing.finally(() => (isWriting = false))
  while (isWriting) expect(texts).toContain(await readFile(file, "utf8"))
  await written
})

test("a symbolic link given as output is kept", async () => {
  const [file, link] = [path.join(directory, "real"), path.join(directory, "link")]
  await symlink(file, link)
  await writeOutput(link, "key")
  expect([await readFile(file, "utf8"), await modeOf(file)]).toEqual(["key", 0o600])
})
