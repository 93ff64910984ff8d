import { expect, test } from "vitest"
import { invalid } from "../../../../apimachinery/status.ts"
import { openRegistry } from "../../generic/testing/open-registry.ts"

const ignored = "spec.SessionAffinity is ignored for headless services"
const spec = { type: "ClusterIP", clusterIP: "None", sessionAffinity: "ClientIP" }

test.each([
  [true, []],
  [false, [ignored]],
])("a new service whose addresses are refused (%s) has the warnings %j", async (isRefused, warnings) => {
  const { stub, registry, ctx, create, make } = openRegistry("services")
  const refused = invalid({ group: "", kind: "Service" }, "a", [])
  if (isRefused)
    Object.assign(stub.serviceAddresses, {
      claim: () => Promise.reject(refused),
      preview: () => Promise.reject(refused),
    })
  for (const dryRun of [true, false]) {
    const object = make("a", { spec: { ...spec } }, { namespace: "default" })
    registry.definition.strategy.default?.(object)
    const made = create(object, dryRun)
    await (isRefused ? expect(made).rejects.toBe(refused) : made)
    expect(ctx.warnings.splice(0)).toEqual(warnings)
  }
})
