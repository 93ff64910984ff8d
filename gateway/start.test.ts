import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { configMaps } from "../client/resources.ts"
import { startTestGateway, type TestTenant } from "./testing/start-gateway.ts"

describe("Gateway.start()", () => {
  const temporary = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), "polyplane-start-"))
    onTestFinished(() => rm(path, { recursive: true, force: true }))
    return path
  }

  test("restores all data after a restart", async () => {
    const dataDir = await temporary()
    let tenant: TestTenant
    {
      await using first = await startTestGateway({ dataDir })
      tenant = await first.createTenant("kept")
      await first.client("/tenants/kept", tenant).create(configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "default", name: "c" },
        data: { x: "1" },
      })
    }
    await using second = await startTestGateway({ dataDir })
    expect(second.gateway.tenants.list()).toEqual([tenant.tenant])
    const found = await second.client("/tenants/kept", tenant).get<KubeObject>(configMaps, "default", "c")
    expect(found).toMatchObject({ data: { x: "1" } })
  })

  test("reports a data directory in use", async () => {
    await using first = await startTestGateway()
    await expect(startTestGateway({ dataDir: first.dataDir })).rejects.toMatchObject({
      name: "StartError",
      message: `the data directory "${first.dataDir}" is in use by another process. Stop that process, or choose another directory`,
    })
  })

  test("reports a data directory of a newer version", async () => {
    const dataDir = await temporary()
    await writeFile(join(dataDir, "format"), JSON.stringify({ format: 99 }))
    await expect(startTestGateway({ dataDir })).rejects.toMatchObject({
      name: "StartError",
      message: expect.stringContaining("newer version"),
    })
  })

  test("reports a data directory that is a file", async () => {
    const file = join(await temporary(), "file")
    await writeFile(file, "")
    await expect(startTestGateway({ dataDir: file })).rejects.toMatchObject({ name: "StartError" })
  })

  test("reports a port in use, and leaves nothing open", async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const dataDir = await temporary()
    await expect(startTestGateway({ dataDir, port })).rejects.toMatchObject({
      name: "StartError",
      message: `port ${port} of 127.0.0.1 is in use by another process. Stop that process, or choose another port`,
    })
    await using again = await startTestGateway({ dataDir })
    expect(again.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  })
})
