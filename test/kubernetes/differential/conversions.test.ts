// Custom resources with a conversion webhook that both servers call.

import { afterAll, beforeAll, describe, test } from "vitest"
import type { WebhookServer } from "../../../gateway/testing/webhook-server.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { conversionCases } from "./conversions/cases.ts"
import { startConversionWebhook } from "./conversions/webhook.ts"
import { compareScenario, expectAlike } from "./differential.ts"
import { KnownDifferences } from "./known-differences.ts"
import { type Servers, startServers } from "./servers.ts"

const names = conversionCases({ url: "", caBundle: "" }).map(({ name }) => name)

describe.skipIf(lacks(TestKubernetes.binaries()))("a tenant converts as kube-apiserver does", () => {
  const known = new KnownDifferences()
  let servers: Servers
  let webhook: WebhookServer

  beforeAll(async () => {
    webhook = await startConversionWebhook()
    servers = await startServers()
  })
  afterAll(async () => {
    await servers?.[Symbol.asyncDispose]()
    await webhook?.[Symbol.asyncDispose]()
  })

  test.concurrent.each(names)("%s", async (name) => {
    const scenario = conversionCases(webhook).find((each) => each.name === name)
    if (scenario === undefined) throw new Error(`no scenario ${name}`)
    await expectAlike(name, async () => known.unknown(await compareScenario(servers, scenario)))
  })
})
