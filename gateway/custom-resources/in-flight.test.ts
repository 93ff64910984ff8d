import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { openLevelStore } from "../../storage/level/store.ts"
import type { KeyValue } from "../../storage/types.ts"
import type { AdmissionPlugin } from "../admission/chain.ts"
import { terminatingDefinition } from "../admission/plugins/terminating-definition.ts"
import { storageKey, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { createKindsStub, type Loose, verdict } from "../testing/kinds.ts"
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

const isGone = async (kinds: World): Promise<boolean> => (await verdict(kinds.get(crds, name))) !== "accepted"

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
  })

  test("is stored so on disk as well, where many writes wait for one flush", async () => {
    const directory = await mkdtemp(join(tmpdir(), "in-flight-"))
    try {
      await using store = await openLevelStore({ directory })
      const kinds = createKindsStub({ store })
      const { resources: table } = kinds.stub
      await using _handler = await startCustomResources({ store, table })
      await kinds.create(crds, definition("widgets", "Widget"))
      const begun = [kinds.patch(crds, name, { spec: { versions: otherVersions() } })]
      for (let index = 0; index < 40; index++) {
        begun.push(kinds.create(widgets, { metadata: { name: `w${index}` }, spec: { size: 1 } }))
        if (index % 7 === 0) await nextTurn()
      }
      await Promise.all(begun)
      const { modRevision: changed = 0 } =
        (await store.get(storageKey(storagePrefixOf(...definitions), "", name))) ?? {}
      const later = (await store.range(prefix)).items.filter(({ modRevision }) => modRevision > changed)
      expect(later.length).toBeGreaterThan(0)
      expect(later.filter((each) => specOf(each)["shape"] !== "round")).toEqual([])
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  test("is deleted with the other objects of a definition that is being deleted", async () => {
    await using world = await late()
    const { kinds, begin, release } = world
    await kinds.create(widgets, { metadata: { name: "held", finalizers: ["x.y/z"] }, spec: { size: 1 } })
    const { writing } = await begin()
    await kinds.delete(crds, name)
    await until(async () => (await kinds.get(widgets, "held"))["metadata"].deletionTimestamp !== undefined)
    release()
    await writing
    await kinds.patch(widgets, "held", { metadata: { finalizers: null } })
    await until(() => isGone(kinds))
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
    expect((await kinds.stub.store.range(prefix)).items).toEqual([])
  })
})
