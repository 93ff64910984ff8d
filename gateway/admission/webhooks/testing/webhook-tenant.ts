// A tenant and a server of webhooks, for tests that call webhooks over HTTPS by a whole gateway.

import { afterAll, beforeAll, beforeEach, expect } from "vitest"
import { localNetworks } from "../../../backends/networks.ts"
import type { Loose } from "../../../testing/kinds.ts"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "../../../testing/start-gateway.ts"
import { reviewed, type WebhookHandler, WebhookServer } from "../../../testing/webhook-server.ts"

export const configurations = "/apis/admissionregistration.k8s.io/v1"
export const configMaps = "/api/v1/namespaces/default/configmaps"

/** Status code and message, or "accepted". */
export async function verdict(request: Promise<RawAnswer>): Promise<string> {
  const { code, json } = await request
  return code < 300 ? "accepted" : `${code} ${(json() as { message: string }).message}`
}

export class WebhookTenant {
  gateway!: TestGateway
  tenant!: TestTenant
  server!: WebhookServer
  /** How the server answers: before each test, it allows. */
  answer: WebhookHandler = (given) => reviewed(given, {})
  /** Of the audit log. */
  readonly entries: Loose[] = []
  #last = 0

  /** For the tests of the file that calls it. Without webhooks before each of them. */
  static open(): WebhookTenant {
    const hooks = new WebhookTenant()
    beforeAll(async () => {
      const audit = { info: (entry: Loose) => hooks.entries.push(entry) } as never
      hooks.gateway = await startTestGateway({ allowedNetworks: localNetworks, audit })
      hooks.tenant = await hooks.gateway.createTenant("a")
      hooks.server = await WebhookServer.start((call) => hooks.answer(call))
    })
    afterAll(async () => {
      await hooks.gateway?.[Symbol.asyncDispose]()
      await hooks.server?.[Symbol.asyncDispose]()
    })
    beforeEach(async () => {
      for (const kind of ["mutating", "validating"])
        await hooks.call("DELETE", `${configurations}/${kind}webhookconfigurations`)
      hooks.answer = (given) => reviewed(given, {})
      hooks.server.calls.length = 0
    })
    return hooks
  }

  call(method: string, path: string, body?: unknown, contentType = "application/json"): Promise<RawAnswer> {
    const headers = { "content-type": contentType }
    const request = { ...this.tenant, method, headers, ...(body === undefined ? {} : { body }) }
    return this.gateway.request(`/tenants/a${path}`, request)
  }

  async configure(kind: "Mutating" | "Validating", ...webhooks: Loose[]): Promise<void> {
    const whole = webhooks.map((webhook, index) => ({
      name: `hook-${index}.example.com`,
      clientConfig: { url: `${this.server.url}/${index}`, caBundle: this.server.caBundle },
      rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...webhook,
    }))
    const { code, text } = await this.call("POST", `${configurations}/${kind.toLowerCase()}webhookconfigurations`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}WebhookConfiguration`,
      metadata: { generateName: "c-" },
      webhooks: whole,
    })
    expect(text).toContain('"uid"')
    expect(code).toBe(201)
  }

  /** A name that no test has used. */
  fresh(): string {
    return `c-${++this.#last}`
  }

  create(name = this.fresh(), more: Loose = {}): Promise<RawAnswer> {
    return this.call("POST", configMaps, { metadata: { name }, ...more })
  }
}
