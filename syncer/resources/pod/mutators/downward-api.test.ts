import { describe, expect, test } from "vitest"
import { podOf, run } from "../../../testing/pod-mutation.ts"
import { downwardAPI, downwardAPIAnnotations } from "./downward-api.ts"

describe("downwardAPI", () => {
  const field = (fieldPath: string): { name: string; valueFrom: { fieldRef: { fieldPath: string } } } => ({
    name: "V",
    valueFrom: { fieldRef: { fieldPath } },
  })
  test.each([
    ["metadata.namespace", { name: "V", value: "default" }],
    ["metadata.uid", { name: "V", value: "u1" }],
    ["metadata.name", field("metadata.name")],
    ["metadata.labels['a']", field("metadata.labels['a']")],
    ["metadata.annotations['a']", field("metadata.annotations['a']")],
    ["status.podIP", field("status.podIP")],
    ["metadata.labels['tenancy.x-k8s.io/cluster']", { name: "V", value: "" }],
  ])("env from %s", (path, expected) => {
    expect(run(downwardAPI, podOf({}, { env: [field(path)] })).containers[0]?.env).toEqual([expected])
  })

  test("files read the syncer's annotations of the super pod", () => {
    const items = ["metadata.namespace", "metadata.uid", "metadata.labels", "metadata.name"].map(
      (fieldPath, index) => ({
        path: `f${index}`,
        fieldRef: { fieldPath },
      }),
    )
    const pod = podOf({ volumes: [{ name: "v", downwardAPI: { items } }] })
    expect(run(downwardAPI, pod).volumes?.[0]?.downwardAPI?.items?.map(({ fieldRef }) => fieldRef?.fieldPath)).toEqual([
      "metadata.annotations['tenancy.x-k8s.io/namespace']",
      "metadata.annotations['tenancy.x-k8s.io/uid']",
      "metadata.annotations['tenancy.x-k8s.io/labels']",
      "metadata.name",
    ])
    expect(downwardAPIAnnotations(pod)).toEqual({ "tenancy.x-k8s.io/labels": 'a="1"' })
    expect(downwardAPIAnnotations(podOf())).toEqual({})
  })

  test("files of annotations have the kubelet's escapes", () => {
    const fieldRef = { fieldPath: "metadata.annotations" }
    const pod = podOf({ volumes: [{ name: "v", downwardAPI: { items: [{ path: "f", fieldRef }] } }] })
    pod.metadata.annotations = { b: "\u0007\u200b", a: 'é"\n' }
    const made = downwardAPIAnnotations(pod)["tenancy.x-k8s.io/annotations"]
    expect(made).toBe(String.raw`a="é\"\n"` + "\n" + String.raw`b="\a\u200b"`)
  })

  test.each(["annotations", "labels"])("files of %s that only the super pod has are empty", (map) => {
    const items = [{ path: "f", fieldRef: { fieldPath: `metadata.${map}['tenancy.x-k8s.io/vcnamespace']` } }]
    const spec = run(
      downwardAPI,
      podOf({
        volumes: [
          { name: "v", downwardAPI: { items } },
          { name: "w", projected: { sources: [{ downwardAPI: { items } }] } },
        ],
      }),
    )
    expect(JSON.stringify(spec.volumes)).not.toContain("vcnamespace")
    expect(spec.volumes?.[0]?.downwardAPI?.items?.[0]?.path).toBe("f")
  })
})
