// Where webhooks may lead (docs/decisions/0010-where-webhooks-may-lead.md).

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "../../testing/start-gateway.ts"
import { configMaps, configurations, verdict } from "./testing/webhook-tenant.ts"

describe("the address of a webhook", () => {
  let strict: TestGateway
  let own: TestTenant

  beforeAll(async () => {
    strict = await startTestGateway()
    own = await strict.createTenant("a")
  })

  afterAll(async () => {
    await strict?.[Symbol.asyncDispose]()
  })

  test.each([
    "https://127.0.0.1:6443/",
    "https://localhost/",
    "https://[::1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/",
    "https://192.168.1.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://[fe80::1]/",
    "https://2130706433/",
  ])("%s is rejected unless the operator allows it", async (target) => {
    const send = (path: string, body?: unknown, method = "POST"): Promise<RawAnswer> =>
      strict.request(`/tenants/a${path}`, { ...own, method, ...(body === undefined ? {} : { body }) })
    await send(`${configurations}/validatingwebhookconfigurations`, undefined, "DELETE")
    await send(`${configurations}/validatingwebhookconfigurations`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "c" },
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: { url: target },
          rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    })
    expect(await verdict(send(configMaps, { metadata: { name: "c" } }))).toContain("address not allowed")
  })
})
