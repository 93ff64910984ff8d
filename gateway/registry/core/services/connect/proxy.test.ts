import { expect, test } from "vitest"
import type { Pod } from "../../../../../apimachinery/object.ts"
import { notFound } from "../../../../../apimachinery/status.ts"
import { pods } from "../../../../../client/resources.ts"
import type { Reader } from "../../../../backends/service-endpoint.ts"
import { maxTries, pickPod } from "./proxy.ts"

const namespace = "default"
const subset = (names: readonly string[], ip: (index: number) => string) => ({
  addresses: names.map((name, index) => ({ ip: ip(index), targetRef: { kind: "Pod", namespace, name } })),
  ports: [{ name: "http", port: 8080 }],
})

/** A reader of the pod "web" that counts what it is asked. */
function reader() {
  const asked: string[] = []
  const get = (_of: unknown, _namespace: unknown, name: string): Promise<Pod> => {
    asked.push(name)
    if (name !== "web") return Promise.reject(notFound(pods, name))
    return Promise.resolve({ metadata: { name }, status: { podIPs: [{ ip: "10.0.0.1" }] } } as unknown as Pod)
  }
  return { asked, client: { get } as unknown as Reader }
}

test("the pod of an address is used only if it has that address", async () => {
  const { client } = reader()
  const picked = (ip: string) => pickPod(client, { namespace, subsets: [subset(["web"], () => ip)], portName: "http" })
  expect(await picked("10.0.0.1")).toEqual({ pod: { namespace, name: "web" }, address: "10.0.0.1", port: 8080 })
  expect(await picked("10.0.0.2")).toBeUndefined()
})

test("a limited number of addresses without a pod is looked up, with pauses", async () => {
  const { asked, client } = reader()
  const names = Array.from({ length: 2 * maxTries }, (_, index) => `none-${index}`)
  let pauses = 0
  const subsets = [subset(names, (index) => `10.1.${index >> 8}.${index & 255}`)]
  const picked = await pickPod(client, { namespace, subsets, portName: "http" }, () => void pauses++)
  expect(picked).toBeUndefined()
  expect(new Set(asked).size).toBe(maxTries)
  expect([asked.length, pauses]).toEqual([maxTries, maxTries])
})
