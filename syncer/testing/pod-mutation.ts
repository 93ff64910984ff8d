// What tests of a pod's mutators need: a pod, what is around it, and one mutator's answer.

import { expect } from "vitest"
import type { Pod, PodSpec } from "../../apimachinery/object.ts"
import type { PodContext, PodMutator } from "../resources/pod/context.ts"
import { fakeTenant } from "./fake-tenants.ts"

export const tenant = fakeTenant("acme")
export const kubernetes = {
  name: "kubernetes",
  clusterIP: "10.0.0.1",
  ports: [{ name: "https", port: 443, protocol: "TCP" }],
}
export const around: PodContext = {
  tenant,
  namespace: "default",
  kubernetes,
  services: () => [],
  nameServer: "10.0.0.10",
  dnsOptions: [{ name: "ndots", value: "5" }],
  hasPriorityClass: (name) => name === "system-node-critical",
  runtimeClass: (name) => (name === "gvisor" ? "acme-gvisor" : name),
  variablesOf: () => undefined,
  hasService: (name) => name === "db",
  placement: undefined,
}

export type Container = PodSpec["containers"][number]

export function podOf(spec: Partial<PodSpec> = {}, container: Partial<Container> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: "web", uid: "u1", labels: { a: "1" } },
    spec: { containers: [{ name: "main", image: "i", ...container }], ...spec } as PodSpec,
  }
}

export function run(mutate: PodMutator, pod: Pod, context: Partial<PodContext> = {}): PodSpec {
  const before = structuredClone(pod)
  const { spec } = mutate(pod, { ...around, ...context })
  expect(pod).toEqual(before)
  return spec!
}

export const envOf = (spec: PodSpec): Record<string, string | undefined> =>
  Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]))
