// Admission webhooks: both servers call the same ones. What the webhooks are sent, what becomes of their answers, and what the audit
// log says of it.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { Audits } from "./audits.ts"
import { compareTranscripts } from "./compare.ts"
import { expectAlike, nextPlace } from "./differential.ts"
import { KnownDifferences, readKnown } from "./known-differences.ts"
import { normalize } from "./normalize.ts"
import { type Servers, startServers } from "./servers.ts"
import { HookedServer } from "./webhooks/hooks.ts"
import { webhookScenarios } from "./webhooks/scenarios.ts"

const scenarios = webhookScenarios()

describe.skipIf(lacks(TestKubernetes.binaries()))("webhooks are called as by kube-apiserver:", () => {
  const known = new KnownDifferences(readKnown(new URL("webhooks/known-differences.yaml", import.meta.url)))
  const audits = new Audits()
  let servers: Servers
  let hooked: HookedServer[]
  let compared = 0

  beforeAll(async () => {
    servers = await startServers({ audits })
    hooked = await Promise.all(
      [servers.kubernetes, servers.polyplane].map((server) => HookedServer.start(server, audits)),
    )
  })
  afterAll(async () => {
    await Promise.all(hooked?.map((server) => server[Symbol.asyncDispose]()) ?? [])
    await servers?.[Symbol.asyncDispose]()
  })

  const all = scenarios.map((scenario) => [scenario.name, scenario] as const)
  test.each(all)("%s", { tags: "independent" }, async (_, scenario) => {
    compared++
    await expectAlike(scenario.name, async () => {
      const place = nextPlace()
      const [theirs, ours] = normalize(await Promise.all(hooked.map((server) => server.run(scenario, place))))
      return known.unknown(compareTranscripts({ ...scenario, anyOrder: true }, theirs ?? [], ours ?? []))
    })
  })

  test("every known difference is still one", ({ skip }) => {
    skip(compared < scenarios.length, "only some scenarios ran")
    expect(known.unused()).toEqual([])
  })
})
