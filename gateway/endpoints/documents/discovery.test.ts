import type { ServerResponse } from "node:http"
import { expect, onTestFinished, test, vi } from "vitest"
import { contextOf, createControlPlaneStub } from "../../testing/control-plane-stub.ts"
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
    for (const slashes of ["", "/", "//", "////"]) {
      const response = {
        writeHead: () => response,
        end: (body: Buffer) => texts.add(body.toString()),
      }
      await serveDiscovery(contextOf(stub, { path: path + slashes }), response as unknown as ServerResponse)
    }
    expect(keys.size).toBe(1)
    expect(texts.size).toBe(1)
  },
)
