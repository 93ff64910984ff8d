import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { TenantAdmin } from "../../client/tenants.ts"
import type { Following } from "../../client/credentials/follow.ts"
import { silentLog } from "../../client/log.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { renderKubeconfig } from "../../gateway/pki/kubeconfig.ts"
import { renewKubeconfigsPeriodically, renewKubeconfigs } from "./kubeconfigs.ts"

let directory: string
let signed: string[]

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "kubeconfigs-"))
  await mkdir(path.join(directory, "tenants"))
  signed = []
})

afterEach(() => rm(directory, { recursive: true }))

const fileOf = (name: string): string => path.join(directory, "tenants", `${name}.kubeconfig`)

const render = (name: string, port: number, certificate: string): string =>
  renderKubeconfig({
    name,
    user: "admin",
    server: `https://127.0.0.1:${port}/tenants/${name}`,
    certificateAuthority: `authority ${port}`,
    client: { certificate, key: "key" },
  })

/** A gateway at port 2. */
const tenants = {
  get: (name: string) => (name === "gone" ? undefined : { name }),
  address: (name: string) =>
    Promise.resolve({ server: `https://127.0.0.1:2/tenants/${name}`, certificateAuthority: "authority 2" }),
  kubeconfig: (name: string) => {
    signed.push(name)
    return Promise.resolve(render(name, 2, "new"))
  },
} as unknown as TenantAdmin

const following = (): Following => ({ signal: new AbortController().signal, log: silentLog })

describe("kubeconfigs after a restart of the gateway", () => {
  test("have the new address and the same certificate", async () => {
    const written = new Date(Date.now() - 3_600_000)
    await writeFile(fileOf("moved"), render("moved", 1, "old"))
    await utimes(fileOf("moved"), written, written)
    await renewKubeconfigs(tenants, directory, following())
    expect(await readFile(fileOf("moved"), "utf8")).toBe(render("moved", 2, "old"))
    expect((await stat(fileOf("moved"))).mtime).toEqual(written)
    expect(signed).toEqual([])
  })

  test("are renewed if they are old or not written by polyplane", async () => {
    const long = new Date(0)
    await writeFile(fileOf("aged"), render("aged", 2, "old"))
    await utimes(fileOf("aged"), long, long)
    await writeFile(fileOf("empty"), "")
    await renewKubeconfigs(tenants, directory, following())
    expect(await readFile(fileOf("aged"), "utf8")).toBe(render("aged", 2, "new"))
    expect(signed.toSorted()).toEqual(["aged", "empty"])
  })

  test("of deleted tenants and other files are not changed", async () => {
    await writeFile(fileOf("gone"), render("gone", 1, "old"))
    await writeFile(path.join(directory, "tenants", "notes.txt"), "mine")
    await renewKubeconfigs(tenants, directory, following())
    expect(await readFile(fileOf("gone"), "utf8")).toBe(render("gone", 1, "old"))
    expect((await readdir(path.join(directory, "tenants"))).toSorted()).toEqual(["gone.kubeconfig", "notes.txt"])
  })

  test("are not renewed after the stop", async () => {
    await writeFile(fileOf("moved"), render("moved", 1, "old"))
    await renewKubeconfigs(tenants, directory, { ...following(), signal: AbortSignal.abort() })
    expect(await readFile(fileOf("moved"), "utf8")).toBe(render("moved", 1, "old"))
  })
})

describe("kubeconfigs of a long-running gateway", () => {
  const dayMs = 24 * 60 * 60_000

  test("are renewed before they expire, and a failure does not affect the others", async () => {
    for (const name of ["broken", "demo"]) await writeFile(fileOf(name), render(name, 2, "old"))
    const admin = path.join(directory, "admin.kubeconfig")
    await writeFile(admin, "admin 1")
    let administrator = "admin 1"
    const gateway = {
      adminKubeconfig: () => Promise.resolve(administrator),
      tenants: {
        ...tenants,
        kubeconfig: (name: string) =>
          name === "broken" ? Promise.reject(new Error("its disk is full")) : tenants.kubeconfig(name),
      } as TenantAdmin,
    }
    const start = Date.now()
    const clock = new FakeClock(start)
    const stopping = new AbortController()
    const failed: object[] = []
    const log = { ...silentLog, error: (fields: object) => void failed.push(fields) }
    const keeping = renewKubeconfigsPeriodically(gateway, directory, { signal: stopping.signal, log, clock })
    /** There is always exactly one timer: between two files, or until the next day. */
    const until = async (days: number): Promise<void> => {
      while (clock.now() < start + days * dayMs) {
        await expect.poll(() => clock.timers).toBe(1)
        clock.advance(dayMs / 2)
      }
      await expect.poll(() => clock.timers).toBe(1)
    }
    await until(89)
    expect(signed).toEqual([])
    administrator = "admin 2"
    await until(95)
    expect(signed).toContain("demo")
    expect(await readFile(fileOf("demo"), "utf8")).toBe(render("demo", 2, "new"))
    expect(await readFile(admin, "utf8")).toBe("admin 2")
    expect(failed[0]).toMatchObject({ tenant: "broken" })
    stopping.abort()
    await keeping
  })
})
