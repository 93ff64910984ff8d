// What clients get from a server of an aggregated API, whatever it answers, what it is sent, and what is said of one that fails.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { AnsweringServer, waysOfUpgrades } from "./aggregated/answering-server.ts"
import { alikeNamed, discoveries, discovering, DocumentServer, merging, silent } from "./aggregated/documents.ts"
import { FailingServers } from "./aggregated/failures.ts"
import { converted, olderDocuments, startOlderServer } from "./aggregated/older-documents.ts"
import { proxied, upgraded } from "./aggregated/proxied.ts"
import { compareScenario, expectAlike, nextPlace } from "./differential.ts"
import { KnownDifferences } from "./known-differences.ts"
import type { RunOptions } from "./run.ts"
import type { Scenario } from "./scenario.ts"
import { type Servers, startServers } from "./servers.ts"

describe.skipIf(lacks(TestKubernetes.binaries()))("aggregated APIs are as those of kube-apiserver", () => {
  const known = new KnownDifferences()
  let servers: Servers
  let answering: AnsweringServer

  beforeAll(async () => {
    // A Service of an external name leads to loopback, where endpoints may not be.
    servers = await startServers({ apiServerFlags: ["--enable-aggregator-routing=false"] })
    answering = await AnsweringServer.start()
  })
  afterAll(async () => {
    await servers?.[Symbol.asyncDispose]()
    await answering?.[Symbol.asyncDispose]()
  })

  const compare = (scenario: Scenario, options?: RunOptions): Promise<void> =>
    expectAlike(scenario.name, async () => known.unknown(await compareScenario(servers, scenario, options)))

  // First: they read the index of all documents, and others leave APIs.
  test.each(olderDocuments)("%s", async (name, document, isPlain) => {
    await using older = await startOlderServer(document)
    await compare({ name, steps: converted(older.port, isPlain) })
  })

  test.each(proxied().map((one) => [one.name, one] as const))("%s", (name, one) =>
    compare({ name, steps: one.steps(answering.port) }),
  )

  test("failures of servers are told", { timeout: 300_000 }, async () => {
    await using failing = await FailingServers.start()
    await compare({ name: "failures", steps: failing.steps() }, { patienceMs: 30_000 })
  })

  test.each(Object.entries(discoveries))("a server %s", async (name, documents) => {
    await using server = await DocumentServer.start(documents)
    const steps = discovering(server.port, !silent.has(name))
    await compare({ name: `a server ${name}`, steps }, { patienceMs: 3000 })
  })

  test.each(waysOfUpgrades)("a server answers to an upgrade: %s", async (way) => {
    await expectAlike(way, async () => {
      const place = nextPlace()
      const sides = await Promise.all(
        [servers.kubernetes, servers.polyplane].map((server) => upgraded(server, place, answering.port, way)),
      )
      expect(sides[1]).toEqual(sides[0])
      return []
    })
  })

  test("OpenAPI documents of servers that have the same names are merged", async () => {
    await using stack = new AsyncDisposableStack()
    const started = await Promise.all(alikeNamed.map((documents) => DocumentServer.start(documents)))
    for (const server of started) stack.use(server)
    await compare({ name: "merged", steps: merging(started.map(({ port }) => port)) })
  })
})
