// A kind of a tenant whose two versions a webhook converts, with a whole gateway. For tests.

import { afterAll, afterEach, beforeAll, expect } from "vitest"
import { localNetworks } from "../../../backends/networks.ts"
import type { Loose } from "../../../testing/kinds.ts"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "../../../testing/start-gateway.ts"
import { type WebhookCall, type WebhookReply, WebhookServer } from "../../../testing/webhook-server.ts"

let gateway: TestGateway
let tenant: TestTenant
export let server: WebhookServer
/** What it does, until {@link restore}: converts, and answers with what it has converted. */
export const webhook = { convert: properly, answer: (given: WebhookCall): WebhookReply => reviewed(given) }

export function restore(): void {
  webhook.convert = properly
  webhook.answer = (given) => reviewed(given)
}

/** All tests of the file share the kind. */
export function useConvertedKind(storage: "v1" | "v2"): void {
  beforeAll(async () => {
    gateway = await startTestGateway({ allowedNetworks: localNetworks })
    tenant = await gateway.createTenant("a")
    server = await WebhookServer.start((given) => webhook.answer(given))
    const { code, text } = await call("POST", crds, definition(storage))
    expect([code, text]).toEqual([201, expect.any(String)])
  })
  afterEach(restore)
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })
}

export const group = "stable.example.com"

export const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
/** Where its objects are. */
export const tests = (version: string): string => `/apis/${group}/${version}/namespaces/default/tests`

/** v1 has hostPort, v2 host and port. */
export function properly(object: Loose, version: string): Loose {
  const { hostPort, host, port, ...rest } = object
  const fields = version.endsWith("/v2")
    ? { host: hostPort?.split(":")[0], port: hostPort?.split(":")[1] }
    : { hostPort: `${host}:${port}` }
  return { ...rest, ...fields, apiVersion: version }
}

export function reviewed({ body }: WebhookCall, response: Loose = {}): WebhookReply {
  const { uid, desiredAPIVersion, objects } = body["request"]
  const convertedObjects = objects.map((given: Loose) => webhook.convert(given, desiredAPIVersion))
  return {
    body: {
      kind: "ConversionReview",
      apiVersion: body["apiVersion"],
      response: { uid, result: { status: "Success" }, convertedObjects, ...response },
    },
  }
}

export function definition(storage: "v1" | "v2"): Loose {
  const text = { type: "string" }
  const version = (name: string, properties: Loose): Loose => ({
    name,
    served: true,
    storage: name === storage,
    schema: { openAPIV3Schema: { type: "object", properties } },
  })
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `tests.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "tests", kind: "Test" },
      versions: [version("v1", { hostPort: text }), version("v2", { host: text, port: text })],
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1", "v1beta1"],
          clientConfig: { url: `${server.url}/convert`, caBundle: server.caBundle },
        },
      },
    },
  }
}

export function call(method: string, path: string, body?: unknown, type = "application/json"): Promise<RawAnswer> {
  const headers = { "content-type": type }
  return gateway.request(`/tenants/a${path}`, { ...tenant, method, headers, ...(body === undefined ? {} : { body }) })
}

export const bodyOf = async (answered: Promise<RawAnswer>): Promise<Loose> => (await answered).json() as Loose

export function objectOf(version: string, name: string, fields: Loose): Loose {
  return { apiVersion: `${group}/${version}`, kind: "Test", metadata: { name }, ...fields }
}
