// What is downloaded is pinned.

import { readFile } from "node:fs/promises"
import path from "node:path"
import { expect, test } from "vitest"
import { parse } from "yaml"
import { pinnedVersion } from "../build/go.ts"
import { modulesFolder, sourcesFile } from "./collect.ts"

test("every module that has definitions is pinned by version and hash, and no other is downloaded", async () => {
  const sources = parse(await readFile(sourcesFile, "utf8")) as { module: string }[]
  const goMod = await readFile(path.join(modulesFolder, "go.mod"), "utf8")
  const goSum = await readFile(path.join(modulesFolder, "go.sum"), "utf8")
  const modules = new Set(sources.map(({ module }) => module))
  for (const module of modules) {
    const version = pinnedVersion(goMod, module)
    expect(version).toMatch(/^v\d/)
    expect(goSum).toContain(`${module} ${version} h1:`)
  }
  expect(new Set([...goMod.matchAll(/^\t(\S+) v/gm)].map(([, module]) => module))).toEqual(modules)
})
