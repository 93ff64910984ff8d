import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, onTestFailed, test } from "vitest"
import { createRandom, pick, type Random, seedOf } from "../../apimachinery/testing/random.ts"
import { openLevelStore } from "../../storage/level/store.ts"
import type { KeyValue, Store, StoreEvent } from "../../storage/types.ts"
import type { AdmissionPlugin } from "../admission/chain.ts"
import { terminatingDefinition } from "../admission/plugins/terminating-definition.ts"
import { deleteUnasked } from "../local-client/local-client.ts"
import { everything, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { createKindsStub, type KindsStub, type Loose, verdict } from "../testing/kinds.ts"
import { startCustomResources } from "./handler.ts"
import { crds, definition, group, schema, until, type World, worldWith } from "./testing/defined-kinds.ts"

const widgets = `${group}/widgets`
const prefix = storagePrefixOf(group, "widgets")
const name = "widgets.example.com"
const definitions = ["apiextensions.k8s.io", "customresourcedefinitions"] as const

const specOf = ({ value }: KeyValue): Loose => (JSON.parse(Buffer.from(value).toString()) as Loose)["spec"] as Loose

interface Late extends AsyncDisposable {
  kinds: World
  /** Creates a widget that is not stored before release(). */
  begin: () => Promise<{ writing: Promise<Loose> }>
  release: () => void
}

async function late(): Promise<Late> {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const slow: AdmissionPlugin = {
    async validate(_ctx, { operation, object, definition: { resource } }) {
      if (operation !== "CREATE" || resource !== "widgets" || object?.metadata.name !== "late") return
      asked.resolve()
      await released.promise
    },
  }
  const kinds = await worldWith([terminatingDefinition, slow], definition("widgets", "Widget"))
  return {
    kinds,
    async begin() {
      const writing = kinds.create(widgets, { metadata: { name: "late" }, spec: { size: 1 } })
      await asked.promise
      return { writing }
    },
    release: () => released.resolve(),
    [Symbol.asyncDispose]: () => kinds[Symbol.asyncDispose](),
  }
}

/** A shape with a default instead of the color. */
function otherVersions(): Loose[] {
  const next: Loose = structuredClone(schema)
  next["properties"].spec.properties.shape = { type: "string", default: "round" }
  delete next["properties"].spec.properties.color
  return [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: next } }]
}

/** All that ever happened to objects and their definition, or to one object. */
async function changes(store: Store, object?: string): Promise<StoreEvent[]> {
  const found: StoreEvent[] = []
  const { revision } = store
  const watcher = store.watch(everything, { after: store.compactedRevision + 1 })
  for await (const events of watcher) {
    found.push(...events)
    if (watcher.revision >= revision) break
  }
  const concerned = object === undefined ? [prefix, storagePrefixOf(...definitions)] : [`${prefix}default/${object}`]
  return found.filter(({ current }) => concerned.some((each) => current.key.startsWith(each)))
}

const isGone = async (kinds: KindsStub): Promise<boolean> => (await verdict(kinds.get(crds, name))) !== "accepted"

describe("a write that began before a change of its definition", () => {
  test("is stored as it is read after the change", async () => {
    await using world = await late()
    const { kinds, begin, release } = world
    const { writing } = await begin()
    await kinds.patch(crds, name, { spec: { versions: otherVersions() } })
    release()
    const written = await writing
    expect(written["spec"]).toEqual({ size: 1, shape: "round" })
    expect(await kinds.get(widgets, "late")).toEqual(written)
    const { items } = await kinds.stub.store.range(prefix)
    expect(items.map(specOf)).toEqual([written["spec"]])
    expect((await changes(kinds.stub.store, "late")).map(({ current }) => specOf(current))).toEqual([written["spec"]])
  })

  test("is refused once the objects of its definition are being deleted", async () => {
    await using world = await late()
    const { kinds, begin, release } = world
    await kinds.create(widgets, { metadata: { name: "held", finalizers: ["x.y/z"] }, spec: { size: 1 } })
    const { writing } = await begin()
    await kinds.delete(crds, name)
    await until(async () => (await kinds.get(widgets, "held"))["metadata"].deletionTimestamp !== undefined)
    release()
    expect(await verdict(writing)).toBe(
      'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    )
    await kinds.patch(widgets, "held", { metadata: { finalizers: null } })
    await until(() => isGone(kinds))
    expect(await changes(kinds.stub.store, "late")).toEqual([])
  })

  test("leaves nothing if its definition has been deleted, even if there is another one of its name", async () => {
    await using world = await late()
    const { kinds, begin, release } = world
    const { writing } = await begin()
    await kinds.delete(crds, name)
    await until(() => isGone(kinds))
    await kinds.create(crds, definition("widgets", "Widget", {}, { scope: "Cluster" }))
    release()
    expect(await verdict(writing)).toBe("the server could not find the requested resource")
    expect(await changes(kinds.stub.store, "late")).toEqual([])
  })
})

/** A definition of its number: it gives its objects a field of that name. */
function numbered(number: number): Loose {
  const spec = { type: "object", properties: { [`f${number}`]: { type: "integer", default: number } } }
  const openAPIV3Schema = { type: "object", properties: { spec: { ...spec, default: {} } } }
  return { metadata: { name }, spec: { ...definition("widgets", "Widget", { schema: { openAPIV3Schema } })["spec"] } }
}

describe("at every revision of a store on disk", () => {
  test("what was written after a definition is as that says, and nothing was written without one", async () => {
    const seed = seedOf()
    onTestFailed(() => console.log(`SEED=${seed}`))
    const random = createRandom(seed)
    const directory = await mkdtemp(join(tmpdir(), "in-flight-"))
    try {
      // In memory, and read from disk.
      await using store = await openLevelStore({ directory, limits: { residentBytes: pick(random, [0, 1e9]) } })
      const kinds = createKindsStub({ store })
      const { resources: table } = kinds.stub
      await using _handler = await startCustomResources({
        store,
        table,
        client: () => kinds.client,
        deleteObject: (...object) => deleteUnasked(kinds.stub, ...object),
      })
      await writeAtRandom(kinds, random)
      const seen = new Set<string>()
      let defined: Loose | undefined
      for (const { type, current } of await changes(store)) {
        const object = JSON.parse(Buffer.from(current.value).toString()) as Loose
        if (!current.key.startsWith(prefix)) defined = type === "put" ? object : undefined
        else if (type === "put") {
          expect(defined, `"${current.key}" at ${current.modRevision}`).toBeDefined()
          const { openAPIV3Schema } = defined!["spec"].versions[0].schema
          expect(Object.keys(object["spec"])).toEqual(Object.keys(openAPIV3Schema.properties.spec.properties))
          seen.add(current.key)
        }
      }
      expect(seen.size).toBeGreaterThan(0)
      if (defined === undefined) expect((await store.range(prefix)).items).toEqual([])
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})

/** Many writes wait for one flush. */
async function writeAtRandom(kinds: KindsStub, random: Random): Promise<void> {
  await kinds.create(crds, numbered(0))
  await kinds.create(widgets, { metadata: { name: "first" } })
  const begun: Promise<unknown>[] = []
  for (let step = 1; step <= 400; step++) {
    const object = `w${random(20)}`
    const write = pick(random, [
      () => kinds.create(crds, numbered(step)),
      () => kinds.patch(crds, name, { spec: numbered(step)["spec"] }),
      () => kinds.patch(crds, name, { metadata: { labels: { step: `${step}` } } }),
      ...(random(40) === 0 ? [() => kinds.delete(crds, name)] : []),
      ...Array.from({ length: 6 }, () => () => kinds.create(widgets, { metadata: { name: object } })),
      ...Array.from(
        { length: 3 },
        () => () => kinds.patch(widgets, object, { metadata: { labels: { a: `${step}` } } }),
      ),
      () => kinds.delete(widgets, object),
    ])
    // Those that fail, as there is no such resource at the moment, write nothing.
    begun.push((async () => write())().catch(() => undefined))
    if (random(7) === 0) await nextTurn()
    if (random(20) === 0) await Promise.all(begun)
  }
  await Promise.all(begun)
  // A deletion of the definition continues in the background.
  const definition = (): Promise<Loose> => kinds.get(crds, name)
  await until(async () => (await isGone(kinds)) || (await definition())["metadata"].deletionTimestamp === undefined)
}
