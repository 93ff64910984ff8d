// The behaviour that clients observe while the disk is full and afterwards: a disk of a few MiB, kubectl, and a tenant that writes
// until the disk is full.

import { randomBytes } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { describe, expect, test } from "vitest"
import { eventually } from "../harness/eventually.ts"
import { polyplane, startPolyplane } from "../harness/polyplane.ts"
import { SmallDisk, whyNoSmallDisk } from "./small-disk.ts"

const megabytes = 96
const roomBytes = 4 * 1024 * 1024
/** Size of a ConfigMap: near the maximum, and not compressible. */
const valueBytes = 700_000
const most = 40

const lacking = await whyNoSmallDisk()
if (lacking !== undefined) console.log(`skipped: ${lacking}`)

describe.skipIf(lacking !== undefined)("while the disk is full", () => {
  test("what is there is read, writes are refused in a sentence, and go on when there is room", async () => {
    await using disk = await SmallDisk.mount(megabytes)
    const dataDir = `${disk.path}/data`
    await using up = await startPolyplane({ dataDir, args: ["--tenants", "demo,other"] })
    const file = up.path("value")
    await writeFile(file, randomBytes(valueBytes).toString("base64"))
    const create = (name: string) => up.tryKubectl(["create", "configmap", name, `--from-file=${file}`])
    const names = async (kubeconfig = "demo"): Promise<string[]> =>
      (await up.kubectl(["get", "configmaps", "-o", "name"], { kubeconfig })).trim().split("\n")

    await disk.fill(roomBytes)
    const acknowledged = ["configmap/kube-root-ca.crt"]
    let refused = ""
    for (let index = 0; refused === "" && index < most; index++) {
      const { code, stderr } = await create(`large-${index}`)
      if (code === 0) acknowledged.push(`configmap/large-${index}`)
      else refused = stderr
    }
    expect(refused).toMatch(
      /error: failed to create configmap: write configmaps "default\/large-\d+": the store cannot be used/,
    )
    expect(refused).not.toContain(disk.path)
    expect(await names()).toEqual(expect.arrayContaining(acknowledged))
    expect(await names("other")).toEqual(["configmap/kube-root-ca.crt"])

    await disk.free()
    await eventually(async () => expect((await create("after")).code).toBe(0))
    acknowledged.push("configmap/after")
    await up.kill()
    await up.start()
    expect(await names()).toEqual(expect.arrayContaining(acknowledged))
    expect(await up.stop()).toBe(0)
    expect((await polyplane(["check", "--data-dir", dataDir])).stdout).toContain("no faults")
  })
})
