import { expect, test } from "vitest"
import type { PodSpec } from "../../../../apimachinery/object.ts"
import { podOf, run } from "../../../testing/pod-mutation.ts"
import { hostAliases } from "./host-aliases.ts"

test("hostAliases for the tenant's API server follow the pod's own", () => {
  const own = { ip: "1.2.3.4", hostnames: ["x"] }
  expect(run(hostAliases, podOf({ hostAliases: [own] })).hostAliases).toEqual([
    own,
    { ip: "10.0.0.1", hostnames: ["kubernetes", "kubernetes.default", "kubernetes.default.svc"] },
  ])
  expect(run(hostAliases, podOf(), { kubernetes: undefined }).hostAliases).toBeUndefined()
})

test.each<[string, Partial<PodSpec>, string | undefined]>([
  ["a subdomain without a service", { hostname: "h", subdomain: "s" }, "h.s.default.svc.cluster.local"],
  ["the pod's name where it has no hostname", { subdomain: "s" }, "web.s.default.svc.cluster.local"],
  ["no subdomain", { hostname: "h" }, undefined],
  ["a service, which DNS knows", { hostname: "h", subdomain: "db" }, undefined],
  ["the node's network", { subdomain: "s", hostNetwork: true }, undefined],
  ["another hostname", { subdomain: "s", hostnameOverride: "h.example.com" } as Partial<PodSpec>, undefined],
])("hostAliases give a pod its full name: %s", (_what, spec, expected) => {
  const added = run(hostAliases, podOf(spec), { kubernetes: undefined }).hostAliases
  expect(added).toEqual(expected === undefined ? undefined : [{ ip: "0.0.0.0", hostnames: [expected] }])
})

test("hostAliases give a pod of a long name the full name that its kubelet gives it", () => {
  const pod = podOf({ subdomain: "s" })
  pod.metadata.name = `${"a".repeat(61)}-.${"b".repeat(190)}`
  const [added] = run(hostAliases, pod, { kubernetes: undefined }).hostAliases ?? []
  expect(added?.hostnames).toEqual([`${"a".repeat(61)}.s.default.svc.cluster.local`])
})
