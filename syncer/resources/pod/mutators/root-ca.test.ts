import { expect, test } from "vitest"
import { podOf, run } from "../../../testing/pod-mutation.ts"
import { rootCA } from "./root-ca.ts"

test("rootCA renames every reference, in init containers too", () => {
  const name = "kube-root-ca.crt"
  const env = [{ name: "CA", valueFrom: { configMapKeyRef: { name, key: "ca.crt" } } }]
  const envFrom = [{ configMapRef: { name } }, { configMapRef: { name: "other" } }]
  const spec = run(
    rootCA,
    podOf(
      {
        initContainers: [{ name: "init", env }],
        volumes: [
          { name: "a", configMap: { name } },
          { name: "b", projected: { sources: [{ configMap: { name } }] } },
        ],
      },
      { env, envFrom },
    ),
  )
  const text = JSON.stringify(spec)
  expect(text.match(/tenant-kube-root-ca\.crt/g)).toHaveLength(5)
  expect(text).not.toContain('"kube-root-ca.crt"')
  expect(text).toContain('"other"')
})

test("rootCA also renames an object with the copy's name, and no other", () => {
  const references = (...names: string[]) => names.map((name) => ({ configMapRef: { name } }))
  const others = ["kube-root-ca.crt.old", "my-kube-root-ca.crt", "tenant-"]
  const { containers } = run(rootCA, podOf({}, { envFrom: references("tenant-kube-root-ca.crt", ...others) }))
  expect(containers[0]?.envFrom).toEqual(references("tenant-tenant-kube-root-ca.crt", ...others))
})
