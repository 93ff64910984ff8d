import { expect, test } from "vitest"
import { deleteUnasked } from "../local-client/local-client.ts"
import { contextOf } from "../testing/control-plane-stub.ts"
import { createKindsStub, type KindsStub } from "../testing/kinds.ts"
import { startCustomResources } from "./handler.ts"

const crds = "apiextensions.k8s.io/customresourcedefinitions"
const things = { group: "example.com", version: "v1", resource: "things" }

async function world(): Promise<KindsStub> {
  await using stack = new AsyncDisposableStack()
  const kinds = stack.use(createKindsStub())
  const { store, resources } = kinds.stub
  stack.use(
    await startCustomResources({
      store,
      table: resources,
      client: () => kinds.client,
      deleteObject: (...object) => deleteUnasked(kinds.stub, ...object),
    }),
  )
  const schema = { openAPIV3Schema: { type: "object" } }
  const versions = [{ name: "v1", served: true, storage: true, schema }]
  const spec = { group: "example.com", scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions }
  await kinds.create(crds, { metadata: { name: "things.example.com" }, spec })
  await kinds.create("example.com/things", { metadata: { name: "a" } })
  const owned = stack.move()
  return { ...kinds, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The names in the events of a watch until it ends. */
async function watched({ stub }: KindsStub, endsWithEdition: boolean, signal: AbortSignal): Promise<string[]> {
  const names: string[] = []
  const registry = stub.resources.registry(things)
  if (registry === undefined) throw new Error("not served")
  for await (const events of registry.watch(contextOf(stub), { endsWithEdition, signal }))
    for (const { type, value } of events) names.push(`${type} ${value.object().metadata.name}`)
  return names
}

const never = new AbortController().signal
const rename = { spec: { names: { shortNames: ["th"] } } }

test("a watch ends when its definition has another spec, after what was written before", async () => {
  await using kinds = await world()
  const events = watched(kinds, true, never)
  await kinds.create("example.com/things", { metadata: { name: "b" } })
  await kinds.patch(crds, "things.example.com", rename)
  expect(await events).toEqual(["ADDED a", "ADDED b"])
})

test("a watch ends with its definition, after the deletions of its objects", async () => {
  await using kinds = await world()
  const events = watched(kinds, true, never)
  await kinds.delete(crds, "things.example.com")
  expect(await events).toEqual(["ADDED a", "DELETED a"])
})

test("the edition of a definition stays the same while its objects are served the same way", async () => {
  await using kinds = await world()
  const edition = (): unknown => kinds.stub.resources.registry(things)?.definition.customResource?.edition
  const before = edition()
  await kinds.patch(crds, "things.example.com", { metadata: { labels: { a: "b" } } })
  expect(edition()).toBe(before)
  await kinds.patch(crds, "things.example.com", rename)
  expect(edition()).not.toBe(before)
})

test("watches of controllers go on", async () => {
  await using kinds = await world()
  const ending = new AbortController()
  const controllers = watched(kinds, false, ending.signal)
  const clients = watched(kinds, true, never)
  await kinds.patch(crds, "things.example.com", rename)
  expect(await clients).toEqual(["ADDED a"])
  await kinds.create("example.com/things", { metadata: { name: "b" } })
  ending.abort()
  expect(await controllers).toEqual(["ADDED a", "ADDED b"])
})
