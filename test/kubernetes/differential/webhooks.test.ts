// Admission webhooks: both servers call the same ones. What the webhooks are sent, what becomes of their answers, and what the audit
// log says of it.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { WebhookServer } from "../../../gateway/testing/webhook-server.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { Audits } from "./audits.ts"
import { startConversionWebhook } from "./conversions/webhook.ts"
import { expectAlike } from "./differential.ts"
import { KnownDifferences, readKnown } from "./known-differences.ts"
import { type Servers, startServers } from "./servers.ts"
import { compareHooked, HookedServer } from "./webhooks/hooks.ts"
import type { WebhookScenario } from "./webhooks/scenario.ts"
import { webhookScenarios } from "./webhooks/scenarios.ts"

const names = webhookScenarios({ url: "", caBundle: "" }).map(({ name }) => name)

describe.skipIf(lacks(TestKubernetes.binaries()))("webhooks are called as by kube-apiserver:", () => {
  const known = new KnownDifferences(readKnown(new URL("webhooks/known-differences.yaml", import.meta.url)))
  const audits = new Audits()
  let servers: Servers
  let hooked: HookedServer[]
  let conversion: WebhookServer
  let scenarios: ReadonlyMap<string, WebhookScenario>
  let compared = 0

  beforeAll(async () => {
    conversion = await startConversionWebhook()
    scenarios = new Map(webhookScenarios(conversion).map((scenario) => [scenario.name, scenario]))
    servers = await startServers({ audits })
    hooked = await Promise.all(
      [servers.kubernetes, servers.polyplane].map((server) => HookedServer.start(server, audits)),
    )
  })
  afterAll(async () => {
    await Promise.all(hooked?.map((server) => server[Symbol.asyncDispose]()) ?? [])
    await servers?.[Symbol.asyncDispose]()
    await conversion?.[Symbol.asyncDispose]()
  })

  test.each(names)("%s", { tags: "independent" }, async (name) => {
    const scenario = scenarios.get(name)
    if (scenario === undefined) throw new Error(`no scenario ${name}`)
    compared++
    await expectAlike(name, async () => known.unknown(await compareHooked(hooked, scenario)))
  })

  test("every known difference is still one", ({ skip }) => {
    skip(compared < names.length, "only some scenarios ran")
    expect(known.unused()).toEqual([])
  })
})
