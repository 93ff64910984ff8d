// The effect and the validation of admission policies: a sequence of requests with kube-apiserver 1.36's responses
// (policies.cases.json).

import { readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/start-gateway.ts"

interface Step {
  method: string
  path: string
  type?: string
  body?: unknown
  code: number
  message?: string
  reason?: string
  causes?: { reason?: string; field?: string; message?: string }[]
  object?: object
  warnings?: string[]
}

const worlds = JSON.parse(readFileSync(new URL("policies.cases.json", import.meta.url), "utf8")) as {
  name: string
  steps: Step[]
}[]

let gateway: TestGateway
let tenant: TestTenant

beforeAll(async () => {
  gateway = await startTestGateway()
  tenant = await gateway.createTenant("a")
})

afterAll(() => gateway?.[Symbol.asyncDispose]())

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function sortedCauses(causes: Step["causes"] = []): string[] {
  return causes.map(({ reason, field, message }) => JSON.stringify([reason, field, message])).sort(byText)
}

describe.each(worlds)("$name", ({ steps }) => {
  test("decides as kube-apiserver", async () => {
    for (const { method, path, type = "application/json", body, ...expected } of steps) {
      const answer = await gateway.request(`/tenants/a${path}`, {
        ...tenant,
        method,
        headers: { "content-type": type },
        ...(body === undefined ? {} : { body }),
      })
      const shown = `${method} ${path} ${JSON.stringify(body)}`
      const found = answer.json() as { message?: string; reason?: string; details?: { causes?: Step["causes"] } }
      expect(answer.code, `${shown}: ${answer.text}`).toBe(expected.code)
      if (expected.code >= 400) {
        const several = (expected.causes ?? []).length > 1
        if (!several) expect(found.message, shown).toBe(expected.message)
        expect(found.reason, shown).toBe(expected.reason)
        expect(sortedCauses(found.details?.causes), shown).toEqual(sortedCauses(expected.causes))
      } else if (expected.object !== undefined) expect(found, shown).toMatchObject(expected.object)
      if (expected.warnings !== undefined) {
        // Node joins headers of the same name.
        const warnings = String(answer.headers["warning"] ?? "").split(/, (?=299 )/)
        expect(warnings.sort(byText), shown).toEqual(expected.warnings)
      }
    }
  })
})
