import { afterEach, beforeEach, expect, test, vi } from "vitest"
import type { Secret } from "../../apimachinery/object.ts"
import { silentLog } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import { tokenUseRecorder } from "./token-use.ts"

const label = "kubernetes.io/legacy-token-last-used"
const secret = (labels: Record<string, string> = {}): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "ns", name: "s", uid: "u", labels },
})

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-01-31T23:00:00Z") })
})

afterEach(() => {
  vi.useRealTimers()
})

test("the last use of a token is recorded once a day", async () => {
  const patches: unknown[] = []
  let answer: Promise<unknown> = Promise.resolve({})
  const patch = (_resource: unknown, ...request: unknown[]): Promise<unknown> => {
    patches.push(request)
    return answer
  }
  const used = tokenUseRecorder(() => ({ patch }) as unknown as Pick<KubeClient, "patch">, silentLog)
  used(secret({ [label]: "2026-01-31" }))
  expect(patches).toEqual([])
  used(secret({ [label]: "2026-01-30" }))
  used(secret())
  const change = { metadata: { uid: "u", labels: { [label]: "2026-01-31" } } }
  expect(patches).toEqual([["ns", "s", change, { type: "merge" }]])
  vi.setSystemTime(Date.parse("2026-02-01T00:00:00Z"))
  answer = Promise.reject(new Error("gone"))
  used(secret())
  await answer.catch(() => undefined)
  await Promise.resolve()
  used(secret()) // the write failed
  expect(patches).toHaveLength(3)
})
