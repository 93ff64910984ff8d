import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane
const configMaps = "/api/v1/namespaces/default/configmaps"

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

const things = "/apis/patch.example.com/v1/namespaces/default/things"

beforeAll(async () => {
  await plane.call("POST", "/api/v1/namespaces/default/pods", {
    metadata: { name: "web" },
    spec: {
      containers: [
        { name: "main", image: "a" },
        { name: "side", image: "b" },
      ],
    },
  })
  await plane.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "things.patch.example.com" },
    spec: {
      group: "patch.example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  })
  expect(
    (await plane.call("POST", things, { apiVersion: "patch.example.com/v1", kind: "Thing", metadata: { name: "one" } }))
      .code,
  ).toBe(201)
})

const pod = "/api/v1/namespaces/default/pods/web"
const images = (answer: { json: { spec: { containers: { name: string; image: string }[] } } }): string[] =>
  answer.json.spec.containers.map(({ name, image }) => `${name}=${image}`)

test("strategic merge: items of a list are merged by their key", async () => {
  const patch = { spec: { containers: [{ name: "side", image: "c" }] } }
  const answer = await plane.call("PATCH", pod, patch, { contentType: "application/strategic-merge-patch+json" })
  expect(images(answer).sort()).toEqual(["main=a", "side=c"])
})

test("merge: a list is replaced as a whole, null removes", async () => {
  const patch = { metadata: { labels: { a: "1", b: "2" } } }
  await plane.call("PATCH", pod, patch, { contentType: "application/merge-patch+json" })
  const removal = { metadata: { labels: { a: null } } }
  const answer = await plane.call("PATCH", pod, removal, { contentType: "application/merge-patch+json" })
  expect(answer.json.metadata.labels).toEqual({ b: "2" })
})

test("JSON patch: operations in order, all or none", async () => {
  const contentType = "application/json-patch+json"
  const add = { op: "add", path: "/metadata/annotations", value: { x: "1" } }
  const failing = await plane.call("PATCH", pod, [add, { op: "test", path: "/metadata/name", value: "other" }], {
    contentType,
  })
  expect(failing.code).toBe(422)
  expect((await plane.call("GET", pod)).json.metadata).not.toHaveProperty("annotations")
  expect((await plane.call("PATCH", pod, [add], { contentType })).json.metadata.annotations).toEqual({ x: "1" })
})

test.each([
  ["merge", things + "/one", "application/merge-patch+json", 200],
  ["strategic merge of a custom resource", things + "/one", "application/strategic-merge-patch+json", 415],
  ["no patch type", pod, "application/json", 415],
  ["a type nobody knows", pod, "application/x-patch", 415],
])("%s", async (_what, path, contentType, code) => {
  expect((await plane.call("PATCH", path, { metadata: { labels: { a: "1" } } }, { contentType })).code).toBe(code)
})

test("strategic merge: what is of another type is refused in the words of a conversion without JSON", async () => {
  const contentType = "application/strategic-merge-patch+json"
  for (const [body, words] of [
    [{ metadata: { labels: [] } }, "cannot restore map from slice"],
    [{ metadata: { finalizers: "a" } }, "cannot restore slice from string"],
    [{ spec: { restartPolicy: 5 } }, "cannot convert int64 to v1.RestartPolicy"],
    [{ spec: { hostNetwork: "a" } }, "unrecognized type: bool"],
    [{ spec: { securityContext: "a" } }, "cannot restore struct from: string"],
  ]) {
    expect((await plane.call("PATCH", pod, body, { contentType })).json.message).toContain(words)
  }
})

test("JSON patch: what makes an object no object of its kind is the patch's fault", async () => {
  const number = [{ op: "replace", path: "/apiVersion", value: 1.5 }]
  const answer = await plane.call("PATCH", pod, number, { contentType: "application/json-patch+json" })
  expect(answer.code).toBe(422)
  expect(answer.json.message).toMatch(/cannot unmarshal number into Go struct field .apiVersion of type string$/)
})

test("what is not there cannot be patched", async () => {
  const answer = await plane.call("PATCH", `${configMaps}/absent`, {}, { contentType: "application/merge-patch+json" })
  expect(answer.json).toMatchObject({ code: 404, reason: "NotFound" })
})
