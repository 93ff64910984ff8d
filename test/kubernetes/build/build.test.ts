// Tests the pinned versions, and how the version of a built program is read.

import { readFile } from "node:fs/promises"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { binary, kubernetesVersion, missingBinaries } from "./cache.ts"
import { parseBuildInfo, pinnedVersion } from "./go.ts"
import { ownModule, parts, versionFlags } from "./parts.ts"

describe("parts", () => {
  const programs = parts.flatMap((part) => part.programs.map((program) => ({ part, ...program })))

  const upstream = programs.filter(({ part, module }) => module !== ownModule(part.name))

  test.each(upstream)("$name: its module is pinned by version and hash", async ({ part, module }) => {
    const version = pinnedVersion(await readFile(path.join(part.folder, "go.mod"), "utf8"), module)
    expect(version).toMatch(/^v\d/)
    expect(await readFile(path.join(part.folder, "go.sum"), "utf8")).toContain(`${module} ${version} h1:`)
  })

  test("Kubernetes is the release the cache is named after, its staging modules the published ones of it", async () => {
    for (const { folder } of parts.filter(({ name }) => name === "kubernetes" || name === "e2e")) {
      const goMod = await readFile(path.join(folder, "go.mod"), "utf8")
      expect(pinnedVersion(goMod, "k8s.io/kubernetes")).toBe(kubernetesVersion)
      expect(pinnedVersion(goMod, "k8s.io/apiserver")).toBe(kubernetesVersion.replace("v1", "v0"))
    }
    expect(versionFlags()).toContain(`version.gitVersion=${kubernetesVersion} `)
  })

  test("no two programs have one name", () => {
    expect(new Set(programs.map(({ name }) => name)).size).toBe(programs.length)
  })
})

test("the version of a built program is its module's, the replacing one where it was replaced", () => {
  const text = [
    "/cache/etcd: go1.26.8",
    "\tpath\tgo.etcd.io/etcd/server/v3",
    "\tmod\tgo.etcd.io/etcd/server/v3\tv3.7.3\th1:x=",
    "\tdep\texample.com/replaced\tv1.0.0",
    "\t=>\texample.com/other\tv2.0.0\th1:y=",
    "/cache/sample: go1.26.8",
    "\tmod\tk8s.io/sample-apiserver\tv0.0.0",
    "\t=>\tk8s.io/sample-apiserver\tv0.36.3\th1:z=",
  ].join("\n")
  expect([...parseBuildInfo(text)]).toEqual([
    ["/cache/etcd", { module: "go.etcd.io/etcd/server/v3", version: "v3.7.3" }],
    ["/cache/sample", { module: "k8s.io/sample-apiserver", version: "v0.36.3" }],
  ])
})

test("a program that was never built is named with what to run", async () => {
  await expect(binary("no-such-program")).rejects.toThrow("no-such-program is not built: `npm run kubernetes:build`")
  expect(missingBinaries(["no-such-program"])).toContain("no-such-program not built")
})
