import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { policyCompilation } from "../../../apimachinery/cel/admission/compile.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { atOnce } from "../../../apimachinery/steps.ts"
import { collectGarbage } from "../../../apimachinery/testing/garbage.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionRegistrations } from "../registrations.ts"
import { PolicyHooks } from "./hooks.ts"

const count = 20

/** With an expression of each kind; the text is unique, since what has been compiled is kept for the whole process. */
function policyHooks(text: string): PolicyHooks {
  const numbers = Array.from({ length: count }, (_, index) => index)
  const spec = {
    variables: numbers.map((index) => ({ name: `v${index}`, expression: `${index} + 1` })),
    validations: numbers.map((index) => ({ expression: `variables.v${index} > 0`, messageExpression: `'${text}'` })),
  }
  const objects: Readonly<Record<string, object>> = {
    Policy: { metadata: { name: "p" }, spec },
    Binding: { metadata: { name: "b" }, spec: { policyName: "p" } },
  }
  const registrations = { isEmpty: false, ofKind: (kind: string) => Promise.resolve([objects[kind] as KubeObject]) }
  return new PolicyHooks(registrations as unknown as AdmissionRegistrations, { policy: "Policy", binding: "Binding" })
}

/** Each step of the compilation gives others a turn. */
function request(turns: { taken: number }, isOver = false): RequestContext {
  const pause = (): Promise<void> => Promise.resolve().then(() => void turns.taken++)
  return { isOver, pause } as Partial<RequestContext> as RequestContext
}

test("others have their turns while a policy is compiled, which is done once for all requests", async () => {
  const [hook] = await policyHooks("turns").current()
  const turns = { taken: 0 }
  const ended = Promise.resolve(hook?.compiled(request(turns, true)))
  const compiled = await Promise.all([hook?.compiled(request(turns)), hook?.compiled(request(turns))])
  await expect(ended).rejects.toThrow("request did not complete")
  expect(turns.taken).toBeGreaterThanOrEqual(3 * count)
  expect(turns.taken).toBeLessThan(4 * count)
  expect(compiled[0]?.validations.filter(({ fault }) => fault !== undefined)).toEqual([])
  expect(compiled[0]?.validations.length).toBe(count)
  expect(compiled[1]).toBe(compiled[0])
  expect(hook?.compiled(request(turns))).toBe(compiled[0])
})

test("a policy that several control planes have is compiled once, by their requests in turn", async () => {
  const [[first], [second]] = [await policyHooks("several").current(), await policyHooks("several").current()]
  const turns = { taken: 0 }
  const compiled = await Promise.all([first?.compiled(request(turns)), second?.compiled(request(turns))])
  expect(compiled[0]?.validations.length).toBe(count)
  expect(compiled[1]).toBe(compiled[0])
  expect(turns.taken).toBeGreaterThanOrEqual(3 * count)
  expect(turns.taken).toBeLessThan(4 * count)
})

test("what a policy is compiled to is dropped when many others have been used", async () => {
  const [hook] = await policyHooks("dropped").current()
  const compiled = new WeakRef((await hook?.compiled({} as RequestContext)) ?? {})
  for (let index = 0; index < count; index++) {
    const variables = Array.from({ length: count }, (_, name) => ({
      name: `v${name}`,
      expression: `'${"x".repeat(16_000)}'`,
    }))
    atOnce(
      policyCompilation({ variables: [...variables, { name: "unique", expression: String(index) }] }).made.taking(),
    )
  }
  await setImmediate() // what a WeakRef is made of is kept until then
  collectGarbage()
  expect(compiled.deref()).toBeUndefined()
  expect((await hook?.compiled({} as RequestContext))?.validations.length).toBe(count)
})

test("a policy in use is not compiled again, however many others are used in between", async () => {
  const [hook] = await policyHooks("used").current()
  const compiled = await hook?.compiled({} as RequestContext)
  for (let index = 0; index < count; index++) {
    policyCompilation({ validations: [{ expression: `'${"x".repeat(400_000)}' != '${index}'` }] })
    expect(hook?.compiled({} as RequestContext)).toBe(compiled)
    collectGarbage()
    await setImmediate()
  }
})
