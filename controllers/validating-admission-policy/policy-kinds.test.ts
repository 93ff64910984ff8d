import { expect, test, vi } from "vitest"
import { notFound } from "../../apimachinery/status.ts"
import { customResourceDefinitions } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { kindsOf } from "./policy-kinds.ts"

const names = (letter: string): string[] => Array.from({ length: 30_000 }, (_, index) => `${letter}${index}`)

test("a policy that names millions of millions of resources has a thousand of them looked up", async () => {
  const get = vi.fn(async (_resource: unknown, _namespace: unknown, name: string) => {
    throw notFound(customResourceDefinitions, name)
  })
  const rule = { apiGroups: names("g"), apiVersions: names("v"), resources: names("r") }
  const kinds = await kindsOf({ get } as unknown as KubeClient, { matchConstraints: { resourceRules: [rule, rule] } })
  expect(kinds).toEqual([])
  expect(get).toHaveBeenCalledTimes(1000)
})
