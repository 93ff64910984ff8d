import { expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { managedKind } from "../../registry/generic/managed-fields/managed-kind.ts"
import { openRegistry } from "../../registry/generic/testing/open-registry.ts"
import { expectedOf } from "../expected.ts"
import { applied } from "./apply.ts"

test("a long configuration is applied in turns, with the same result", async () => {
  const { ctx, registry, make } = openRegistry("deployments", "apps")
  const labels = { app: "a" }
  const env = Array.from({ length: 5000 }, (_, index) => ({ name: `n${index}`, value: "v" }))
  const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "a", env }] } }
  const object = make("a", { spec: { selector: { matchLabels: labels }, template } })
  const { definition } = registry
  let turns = 0
  const pause = async (): Promise<void> => void turns++
  const apply = (isLong: boolean): Promise<KubeObject> => {
    const context = isLong ? { ...ctx, pause } : ctx
    const [of, expected, at] = [
      managedKind(context, definition, ""),
      expectedOf(definition),
      { namespace: "default", name: "a" },
    ]
    const application = { definition, of, expected, at, fieldManager: "me", force: false, isLong }
    return applied(context, application, { object, duplicates: [] }, undefined, "Ignore")
  }
  const withoutTime = (result: KubeObject): string =>
    JSON.stringify(result, (key, value: unknown) => (key === "time" ? "" : value))
  expect(withoutTime(await apply(true))).toBe(withoutTime(await apply(false)))
  expect(turns).toBeGreaterThan(30)
})
