import { expect, test, vi } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { internalWrite, withoutAdmission } from "./internal-write.ts"
import { openRegistry } from "./testing/open-registry.ts"

const open = () => openRegistry("customresourcedefinitions", "apiextensions.k8s.io")
type Opened = ReturnType<typeof open>

/** Names of the definitions whose validation is under way, and the most that there have been at the same time. */
function countUnderWay({ registry }: Opened) {
  const { strategy } = registry.definition
  const validating = strategy.validating?.bind(strategy)
  const underWay = new Set<string>()
  const counted = { most: 0, begun: [] as string[] }
  const spy = vi.spyOn(strategy, "validating").mockImplementation(function* (ctx, object) {
    const { name = "" } = object.metadata
    underWay.add(name)
    counted.begun.push(name)
    counted.most = Math.max(counted.most, underWay.size)
    try {
      return (yield* validating?.(ctx, object) ?? []) ?? []
    } finally {
      underWay.delete(name)
    }
  })
  return { underWay, counted, [Symbol.dispose]: () => spy.mockRestore() }
}

function definition({ make }: Opened, plural: string, characters: number, hasRules = true): KubeObject {
  const rules = Array.from({ length: 10 }, (_, index) => {
    const start = `self.a != ${index}`
    return { rule: `${start}${" ".repeat(Math.max(0, characters / 10 - start.length))}` }
  })
  const typed = { type: "object", properties: { a: { type: "integer" } } }
  const schema = hasRules ? { ...typed, "x-kubernetes-validations": rules } : typed
  const names = { plural, singular: plural, kind: plural, listKind: `${plural}list` }
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }]
  return make(`${plural}.example.com`, { spec: { group: "example.com", scope: "Cluster", names, versions } })
}

const pause = (): Promise<void> => Promise.resolve()
/** Clients' requests have it, calls in process do not. */
const enlarge = (): undefined => undefined

async function createAll(tenants: readonly Opened[], characters: number): Promise<void> {
  const creating = tenants.flatMap((opened, tenant) =>
    ["a", "b", "c"].map((name) => {
      const object = definition(opened, `${name}${tenant}`, characters)
      return opened.registry.create({ ...opened.ctx, pause, enlarge }, object, internalWrite(), withoutAdmission)
    }),
  )
  await Promise.all(creating)
}

test("of each control plane one object is validated at the same time", async () => {
  const tenants = [open(), open(), open()]
  const [first = open()] = tenants
  using all = countUnderWay(first)
  await createAll(tenants, 0)
  expect(all.counted.most).toBe(tenants.length)
  expect(all.counted.begun).toHaveLength(9)
  all.counted.most = 0
  await createAll([open()], 0)
  expect(all.counted.most).toBe(1)
})

test.each<[string, object, boolean]>([
  ["requests that never pause", { pause: undefined, enlarge }, true],
  ["calls in process", { pause }, true],
  ["requests whose objects have no expressions", { pause, enlarge }, false],
])("%s do not wait", async (_what, given, hasRules) => {
  const opened = open()
  const { ctx, registry } = opened
  using held = countUnderWay(opened)
  const { promise, resolve } = Promise.withResolvers<void>()
  const waiting = (): Promise<void> | undefined => (held.underWay.size > 0 ? promise : undefined)
  const create = (parts: object, object: KubeObject): Promise<unknown> =>
    registry.create({ ...ctx, ...parts }, object, internalWrite(), withoutAdmission)
  const first = create({ pause: waiting, enlarge }, definition(opened, "a", 40_000))
  await expect.poll(() => held.underWay.size).toBe(1)
  await create(given, definition(opened, "b", 40_000, hasRules))
  resolve()
  await first
})

test("a request that ends is validated no further, and waits for no place", async () => {
  const opened = open()
  const { ctx, registry } = opened
  using held = countUnderWay(opened)
  const create = (name: string, ended: AbortController, turn: () => Promise<void> | undefined): Promise<unknown> => {
    const { signal } = ended
    const own = {
      ...ctx,
      enlarge,
      signal,
      pause: turn,
      get isOver() {
        return signal.aborted
      },
    }
    const creating = registry.create(own, definition(opened, name, 40_000), internalWrite(), withoutAdmission)
    return creating.catch((error: Error) => error.message)
  }
  const over = expect.stringContaining("request did not complete")
  const [first, second] = [new AbortController(), new AbortController()]
  const { promise, resolve } = Promise.withResolvers<void>()
  const one = create("a", first, () => (held.underWay.size > 0 ? promise : undefined))
  await expect.poll(() => held.underWay.size).toBe(1)
  const other = create("b", second, () => undefined)
  const next = create("c", new AbortController(), () => undefined)
  second.abort(new Error("over"))
  expect(await other).toEqual(over)
  first.abort(new Error("over"))
  resolve()
  expect(await one).toEqual(over)
  await next
  expect(held.counted.begun.map((name) => name[0])).toEqual(["a", "c"])
})
