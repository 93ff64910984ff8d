import type { ServerResponse } from "node:http"
import { expect, onTestFinished, test, vi } from "vitest"
import { contextOf, type ControlPlaneStub, createControlPlaneStub } from "../../testing/control-plane-stub.ts"
import { serveDiscovery } from "./discovery.ts"

const keys = vi.hoisted(() => new Set<string>())
vi.mock("./documents.ts", async (importOriginal) => {
  const original = await importOriginal<typeof import("./documents.ts")>()
  const document: typeof original.document = (ctx, key, about, make) => {
    keys.add(key)
    return original.document(ctx, key, about, make)
  }
  return { ...original, document }
})

test.each(["/apis/apps/v1", "/apis/apps", "/apis", "/api/v1", "/api"])(
  "%s is cached once regardless of trailing slashes, so that clients cannot fill the cache",
  async (path) => {
    const stub = createControlPlaneStub()
    onTestFinished(() => stub[Symbol.asyncDispose]())
    keys.clear()
    const texts = new Set<string>()
    for (const slashes of ["", "/", "//", "////"]) texts.add(await textAt(stub, path + slashes))
    expect(keys.size).toBe(1)
    expect(texts.size).toBe(1)
  },
)

test("/api has the address of each control plane", async () => {
  const addresses: string[] = []
  for (const url of ["https://one.example.com:6443", "https://192.0.2.1"]) {
    await using stub = Object.assign(createControlPlaneStub(), { url })
    const { serverAddressByClientCIDRs } = JSON.parse(await textAt(stub, "/api")) as {
      serverAddressByClientCIDRs: { serverAddress: string }[]
    }
    addresses.push(...serverAddressByClientCIDRs.map(({ serverAddress }) => serverAddress))
  }
  expect(addresses).toEqual(["one.example.com:6443", "192.0.2.1"])
})

async function textAt(controlPlane: ControlPlaneStub, path: string): Promise<string> {
  let text = ""
  const response = {
    writeHead: () => response,
    end: (body: Buffer) => void (text = body.toString()),
  }
  await serveDiscovery(contextOf(controlPlane, { path }), response as unknown as ServerResponse)
  return text
}
