import { expect, test } from "vitest"
import type { RequestContext } from "../request/context.ts"
import { validateByRules } from "./rules.ts"

const count = 20

/** The text is unique, since what has been compiled is kept for the whole process. */
const schemaOf = (text: string) => ({
  type: "object",
  description: text,
  properties: { a: { type: "integer" } },
  "x-kubernetes-validations": Array.from({ length: count }, (_, index) => ({ rule: `self.a != ${index}` })),
})

/** `presence`: of its control plane. `taking`: called at each turn that others have. */
function writer(isOver = false, presence: object = {}, taking = (): void => undefined) {
  const turns = { taken: 0 }
  const pause = async (): Promise<void> => {
    await Promise.resolve()
    turns.taken++
    taking()
  }
  const enlarge = (): undefined => undefined
  const ctx = { isOver, pause, enlarge, turn: () => undefined, controlPlane: { presence } } as unknown as RequestContext
  const write = async (schema: object, a: number): Promise<number> => {
    const object = { apiVersion: "example.com/v1", kind: "Thing", metadata: {}, a }
    return (await validateByRules(ctx, schema as never, object, undefined, [])).length
  }
  return { turns, write }
}

test("others have their turns while the rules of a definition are compiled, which is done once for all that need them", async () => {
  const [gone, one, other] = [writer(true), writer(), writer()]
  const ended = gone.write(schemaOf("turns"), 1)
  const writes = Promise.all([one.write(schemaOf("turns"), 1), other.write(schemaOf("turns"), count)])
  await expect(ended).rejects.toThrow("request did not complete")
  expect(await writes).toEqual([1, 0])
  const taken = gone.turns.taken + one.turns.taken + other.turns.taken
  expect(taken).toBeGreaterThanOrEqual(count)
  expect(taken).toBeLessThanOrEqual(count + 2)
})

test("rules that have been compiled are evaluated without a pause", async () => {
  const schema = schemaOf("compiled")
  const { turns, write } = writer()
  await write(schema, 1)
  const { taken } = turns
  expect(await write(schema, 2)).toBe(1)
  expect(turns.taken).toBe(taken)
})

test("of a control plane, the rules of one definition are compiled at a time", async () => {
  const presence = {}
  const order: string[] = []
  const writes = ["a", "b", "c"].map((name) =>
    writer(false, presence, () => void order.push(name)).write(schemaOf(`alone ${name}`), 1),
  )
  expect(await Promise.all(writes)).toEqual([1, 1, 1])
  expect(order.length).toBeGreaterThanOrEqual(3 * (count - 1))
  expect(order).toEqual(order.toSorted())
})
