// LevelDB does not miss what was in a log that has been emptied; images say what should be there.

import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { put } from "../testing/store-suite/shorthand.ts"
import { checkDirectory } from "./check.ts"
import type { LevelStoreOptions } from "./store.ts"
import { base, contents, copyOf, directory, expected, open, useImages, written } from "../testing/images.ts"

useImages()

describe("a store whose log was emptied", () => {
  async function emptied(of: string): Promise<string> {
    const copy = await copyOf(of)
    const logs = (await readdir(copy)).filter((name) => name.endsWith(".log"))
    expect(logs.length).toBeGreaterThan(0)
    for (const name of logs) await writeFile(join(copy, name), "")
    return copy
  }

  async function expectRefused(copy: string, options: Partial<LevelStoreOptions> = {}): Promise<void> {
    const damaged = { code: "Corrupt", message: expect.stringMatching(/is damaged: .*(has been at|nothing is in it)/) }
    for (let time = 0; time < 2; time++) {
      await expect(open({ directory: copy, ...options })).rejects.toMatchObject(damaged)
      await expect(checkDirectory(copy, { base, exists: options.exists === true })).rejects.toMatchObject(damaged)
    }
  }

  /** The second opening writes a table of the first one's log. */
  describe.each(["first", "second"])("since its %s opening", (opening) => {
    beforeEach(async () => {
      if (opening === "second") await written()
    })

    test.each<[name: string, options: Partial<LevelStoreOptions>]>([
      ["which is small", {}],
      ["which is large", { limits: { residentBytes: 10 } }],
      ["which has no image", { image: false }],
    ])("is refused, by the check as well: one %s", async (_, options) => {
      await written(options)
      await expectRefused(await emptied(directory), { image: false })
    })

    test("is refused if its process was killed", async () => {
      await using store = await open()
      for (let group = 0; group < 16; group++) await put(store, "/a", String(group))
      const noted = expect.stringContaining(`"head":${store.revision},`)
      await expect.poll(() => readFile(join(directory, "IMAGE"), "latin1")).toEqual(noted)
      await expectRefused(await emptied(directory))
    })
  })

  test("is refused if its owner knows that it has been written, and nothing is noted", async () => {
    await written()
    const copy = await emptied(directory)
    await rm(join(copy, "IMAGE"))
    await expectRefused(copy, { exists: true })
  })

  test("accepts no writes if that happened while it was closed, and is read from its image", async () => {
    await written()
    const copy = await emptied(directory)
    await using store = await open({ directory: copy })
    expect(await contents(store)).toEqual(expected)
    await expect(put(store, "/c", "1")).rejects.toMatchObject({ code: "Corrupt" })
    expect(store.damage).toMatchObject({ code: "Corrupt" })
    expect(await contents(store)).toEqual(expected)
  })
})
