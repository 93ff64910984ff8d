// What a server does to its own objects when it starts.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startTestGateway, type TestGateway } from "../../../gateway/testing/start-gateway.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { printDifferences } from "./compare.ts"
import { Connection } from "./connection.ts"
import { compareScenario } from "./differential.ts"
import { afterStart, beforeStart } from "./kept-objects/at-start.ts"

describe.skipIf(lacks(TestKubernetes.binaries()))("a server that starts again", () => {
  const stack = new AsyncDisposableStack()
  let kubernetes: TestKubernetes
  let dataDir: string

  beforeAll(async () => {
    kubernetes = stack.use(await TestKubernetes.start({ serviceAccounts: true }))
    dataDir = await mkdtemp(path.join(tmpdir(), "polyplane-at-start-"))
    stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  })
  afterAll(() => stack.disposeAsync())

  const startGateway = (): Promise<TestGateway> => startTestGateway({ superCluster: false, dataDir })

  test("reconciles its roles, bindings and APIServices", async () => {
    const { server, certificateAuthority, token } = kubernetes
    using theirs = new Connection({ name: "kubernetes", url: server, certificateAuthority, token })
    let credentials = { certificate: "", key: "" }
    const compare = async ({ gateway, url }: TestGateway, scenario = beforeStart): Promise<void> => {
      const ours = { url: `${url}/tenants/a`, certificateAuthority: gateway.certificateAuthority, ...credentials }
      using polyplane = new Connection({ name: "polyplane", ...ours })
      const servers = { kubernetes: theirs, polyplane, [Symbol.asyncDispose]: () => Promise.resolve() }
      expect(printDifferences(await compareScenario(servers, scenario))).toBe("")
    }
    {
      await using gateway = await startGateway()
      const { certificate = "", key = "" } = await gateway.createTenant("a", { controllers: false })
      credentials = { certificate, key }
      await compare(gateway)
    }
    await kubernetes.stopApiServer()
    await kubernetes.startApiServer()
    await using gateway = await startGateway()
    await compare(gateway, afterStart)
  })
})
