import { expect, test, vi } from "vitest"
import { StatusError } from "../../../apimachinery/status.ts"
import { internalWrite, withoutAdmission } from "./internal-write.ts"
import { namespace, openRegistry } from "./testing/open-registry.ts"

/** More than the cache of values keeps. */
const longBytes = 1_000_000

test.each([
  ["updated", "update"],
  ["deleted", "remove"],
] as const)("a long object that is %s is parsed once", async (_, verb) => {
  const { create, make, update, remove } = openRegistry()
  await create(make("long", { data: { text: "x".repeat(longBytes) } }))
  using parse = vi.spyOn(JSON, "parse")
  if (verb === "update") await update("long", (object) => ({ ...object, immutable: true }))
  else await remove("long")
  expect(parse.mock.calls.filter(([text]) => text.length > longBytes)).toHaveLength(1)
})

test("long objects are validated in turns, each within its own budget", async () => {
  const { ctx, registry, make } = openRegistry("pods")
  const faults = 6000
  const volumes = Array.from({ length: faults }, (_, index) => ({ name: `V${index}`, emptyDir: {} }))
  const turns: string[] = []
  const refused = async (name: string): Promise<number> => {
    const pod = make(name, { spec: { containers: [], volumes } }, { namespace })
    const pause = async (): Promise<void> => void turns.push(name)
    const creating = registry.create({ ...ctx, pause }, pod, internalWrite("", true), withoutAdmission)
    const error: unknown = await creating.catch((fault: unknown) => fault)
    return error instanceof StatusError ? (error.status.details?.causes?.length ?? 0) : 0
  }
  const [one, other] = await Promise.all([refused("a"), refused("b")])
  expect(one).toBeGreaterThanOrEqual(faults)
  expect(other).toBe(one)
  expect(turns.filter((name) => name === "a").length).toBeGreaterThan(faults / 1000)
  expect(turns.lastIndexOf("a")).toBeGreaterThan(turns.indexOf("b"))
})

test("a long ConfigMap is validated in turns", async () => {
  const { ctx, registry, make } = openRegistry()
  const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k ${index}`, "a"]))
  let turns = 0
  const pause = async (): Promise<void> => void turns++
  const creating = registry.create({ ...ctx, pause }, make("a", { data }), internalWrite("", true), withoutAdmission)
  await expect(creating).rejects.toThrow('data[k 0]: Invalid value: "k 0"')
  expect(turns).toBeGreaterThan(20)
})
