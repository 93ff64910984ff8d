import { expect, test } from "vitest"
import { bodyPlaces } from "../../request/large-places.ts"
import { reviewed } from "../../testing/webhook-server.ts"
import { WebhookTenant } from "./testing/webhook-tenant.ts"

const hooks = WebhookTenant.open()

test("few large objects wait for webhooks at the same time, and all are written", async () => {
  await hooks.configure("Validating", {})
  const writes = 2 * bodyPlaces
  const answered = Promise.withResolvers<void>()
  hooks.answer = async (given) => {
    await answered.promise
    return reviewed(given, {})
  }
  const text = "x".repeat(600_000)
  const creating = Array.from({ length: writes }, () => hooks.create(hooks.fresh(), { data: { text } }))
  await expect.poll(() => hooks.server.calls.length).toBe(bodyPlaces)
  // Requests that were sent later are answered, so those that wait have been received.
  for (let index = 0; index < 3; index++) expect((await hooks.call("GET", "/api/v1/namespaces/default")).code).toBe(200)
  expect(hooks.server.calls).toHaveLength(bodyPlaces)
  answered.resolve()
  expect((await Promise.all(creating)).map(({ code }) => code)).toEqual(Array.from({ length: writes }, () => 201))
  expect(hooks.server.calls).toHaveLength(writes)
})
