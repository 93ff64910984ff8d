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

test.each([
  [true, ["of its fields"]],
  [false, ["of its fields", ignored]],
])("a changed service whose addresses are refused (%s) has the warnings %j", async (isRefused, warnings) => {
  const { stub, registry, ctx, create, make, update } = openRegistry("services")
  const object = make("a", { spec: { ports: [{ port: 80 }] } }, { namespace: "default" })
  registry.definition.strategy.default?.(object)
  await create(object)
  const refused = invalid({ group: "", kind: "Service" }, "a", [])
  if (isRefused) Object.assign(stub.serviceAddresses, { claim: () => Promise.reject(refused) })
  const changed = update("a", (current) => {
    ctx.warn("of its fields")
    Object.assign(current, { spec: { ...spec, ports: [{ port: 81 }] } })
    registry.definition.strategy.default?.(current)
    return current
  })
  await (isRefused ? expect(changed).rejects.toBe(refused) : changed)
  expect(ctx.warnings).toEqual(warnings)
})
