import { expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { pods } from "../../client/resources.ts"
import type { ListWatch } from "../../client/rest.ts"
import { trimmed } from "./trim.ts"

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", managedFields: [{ manager: "kubelet" }] },
  spec: {},
} as unknown as KubeObject

async function* events() {
  yield { type: "ADDED", object: pod }
}

const client = {
  list: () => Promise.resolve({ apiVersion: "v1", kind: "PodList", metadata: { resourceVersion: "7" }, items: [pod] }),
  watch: events,
} as unknown as ListWatch

test("objects come without managedFields from lists and watches, and are otherwise the same", async () => {
  const wanted = { ...pod, metadata: { name: "web" } }
  const list = await trimmed(client).list(pods)
  expect(list).toMatchObject({ metadata: { resourceVersion: "7" }, items: [wanted] })
  expect(list.items[0]?.metadata).not.toHaveProperty("managedFields")
  const { signal } = new AbortController()
  for await (const event of trimmed(client).watch(pods, { resourceVersion: "7", signal }))
    expect(event).toEqual({ type: "ADDED", object: wanted })
  expect.assertions(3)
})
