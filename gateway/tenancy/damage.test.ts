// A tenant whose data is damaged or gone is not served as an empty one: it is reported, the others are not affected, and it is served
// again once its data was put back.

import { existsSync } from "node:fs"
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { configMaps } from "../../client/resources.ts"
import { checkDataDirectory, type CheckedStore } from "../stores/check-data-directory.ts"
import { configMap, startTestGateway, type TestGateway } from "../testing/start-gateway.ts"

let fixture: TestGateway

beforeEach(async () => {
  fixture = await startTestGateway({ limits: { tenantIdleMs: 40 }, superCluster: false })
})
afterEach(() => fixture[Symbol.asyncDispose]())

/** The time that a loaded machine may take. */
const waitFor = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 60_000, interval: 3 })
const asleep = (): Promise<void> => waitFor(() => expect(fixture.gateway.tenants.awake).toBe(0))

/** The tenants "hurt" and "well", which have an object and sleep; and the directory of the first one. */
async function sleepers() {
  const { tenants } = fixture.gateway
  const { tenant } = await fixture.createTenant("hurt")
  await fixture.createTenant("well")
  const [hurt, well] = [tenants.client("hurt"), tenants.client("well")]
  for (const client of [hurt, well]) await client.create(configMaps, configMap("kept"))
  await asleep()
  // The second opening waits until it is recorded that there is a store.
  await hurt.get(configMaps, "default", "kept")
  await asleep()
  return { tenants, hurt, well, directory: join(fixture.dataDir, "stores", tenant.uid) }
}

test.each(["its directory is gone", "its directory is empty"])("a tenant is not recreated when %s", async (how) => {
  const { tenants, hurt, well, directory } = await sleepers()
  const away = join(fixture.dataDir, "away")
  await rename(directory, away)
  if (how.endsWith("empty")) await mkdir(directory)
  expect(await tenants.faults()).toEqual([])
  await expect(hurt.get(configMaps, "default", "kept")).rejects.toThrow(/is missing/)
  await expect(hurt.create(configMaps, configMap("new"))).rejects.toThrow(/is missing/)
  const fault = { tenant: "hurt", message: expect.stringMatching(/^store .* is missing$/) }
  expect(await tenants.faults()).toEqual([fault])
  await well.get(configMaps, "default", "kept")

  await rm(directory, { recursive: true, force: true })
  await rename(away, directory)
  await waitFor(async () => expect(await tenants.faults()).toEqual([]))
  await hurt.get(configMaps, "default", "kept")
})

test("damage that a write notices is reported while the objects in memory are still read", async () => {
  const { tenants, hurt, directory } = await sleepers()
  await rename(join(directory, "CURRENT"), join(directory, "away"))
  await hurt.get(configMaps, "default", "kept")
  expect(await tenants.faults()).toEqual([])
  await expect(hurt.create(configMaps, configMap("new"))).rejects.toThrow(/is damaged: its file CURRENT is missing/)
  expect(await tenants.faults()).toEqual([
    { tenant: "hurt", message: expect.stringMatching(/its file CURRENT is missing$/) },
  ])
  await hurt.get(configMaps, "default", "kept")
})

// LevelDB would skip the former without a word, and end the process at the latter.
test.each([/\.log$/, /\.ldb$/])("a byte of a file is not as it was written: %s", async (type) => {
  const { tenants, hurt, well, directory } = await sleepers()
  // A store that is opened again has its writes in a table.
  await hurt.create(configMaps, configMap("another"))
  await asleep()
  const files = (await readdir(directory)).filter((name) => type.test(name)).map((name) => join(directory, name))
  const flip = () => Promise.all(files.map((file) => changeByte(file, 20)))
  await flip()
  await expect(hurt.create(configMaps, configMap("new"))).rejects.toThrow(
    /is damaged: .* its (record|block) at \d+ is damaged/,
  )
  expect(await tenants.faults()).toEqual([{ tenant: "hurt", message: expect.stringContaining(directory) }])
  await well.create(configMaps, configMap("another"))

  await flip()
  await waitFor(async () => expect(await tenants.faults()).toEqual([]))
  await hurt.create(configMaps, configMap("new"))
  for (const name of ["kept", "another"]) await hurt.get(configMaps, "default", name)
})

async function changeByte(file: string, at: number): Promise<void> {
  const content = await readFile(file)
  content[at]! ^= 1
  await writeFile(file, content)
}

test("the check reports a tenant's store that is missing or empty, and does not create it", async () => {
  const { directory } = await sleepers()
  const copy = `${fixture.dataDir}-copy`
  await cp(fixture.dataDir, copy, { recursive: true })
  const faults = async (): Promise<CheckedStore[]> => {
    const found: CheckedStore[] = []
    for await (const checked of checkDataDirectory(copy)) if (checked.faults.length > 0) found.push(checked)
    return found
  }
  try {
    expect(await faults()).toEqual([])
    const store = directory.replace(fixture.dataDir, copy)
    await rm(store, { recursive: true })
    expect(await faults()).toEqual([
      { name: 'tenant "hurt"', faults: [expect.stringMatching(/^its store .* is missing$/)] },
    ])
    expect(existsSync(store)).toBe(false)
    await mkdir(store)
    expect(await faults()).toEqual([{ name: 'tenant "hurt"', faults: [expect.stringMatching(/CURRENT is missing$/)] }])
    expect(await readdir(store)).toEqual([])
  } finally {
    await rm(copy, { recursive: true })
  }
})
