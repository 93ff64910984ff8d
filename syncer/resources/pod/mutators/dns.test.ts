import { describe, expect, test } from "vitest"
import type { PodSpec } from "../../../../apimachinery/object.ts"
import { podOf, run, tenant } from "../../../testing/pod-mutation.ts"
import { dns } from "./dns.ts"

describe("dns", () => {
  const own = {
    nameservers: ["1.1.1.1"],
    searches: ["corp"],
    options: [{ name: "ndots", value: "2" }, { name: "debug" }],
  }
  const config = {
    nameservers: ["10.0.0.10"],
    searches: ["default.svc.cluster.local", "svc.cluster.local", "cluster.local"],
    options: [{ name: "ndots", value: "5" }],
  }
  test.each<[string, Partial<PodSpec>, Partial<PodSpec>]>([
    ["None stays", { dnsPolicy: "None", dnsConfig: own }, { dnsPolicy: "None", dnsConfig: own }],
    ["Default stays", { dnsPolicy: "Default" }, { dnsPolicy: "Default" }],
    ["ClusterFirst", { dnsPolicy: "ClusterFirst" }, { dnsPolicy: "None", dnsConfig: config }],
    [
      "ClusterFirst on the host's network stays",
      { dnsPolicy: "ClusterFirst", hostNetwork: true },
      { dnsPolicy: "ClusterFirst", hostNetwork: true },
    ],
    [
      "ClusterFirstWithHostNet",
      { dnsPolicy: "ClusterFirstWithHostNet", hostNetwork: true },
      { dnsPolicy: "None", dnsConfig: config, hostNetwork: true },
    ],
    [
      "ClusterFirst with its own config",
      { dnsPolicy: "ClusterFirst", dnsConfig: own },
      {
        dnsPolicy: "None",
        dnsConfig: {
          nameservers: ["10.0.0.10", "1.1.1.1"],
          searches: [...config.searches, "corp"],
          options: [{ name: "ndots", value: "2" }, { name: "debug" }],
        },
      },
    ],
  ])("%s", (_name, given, expected) => {
    expect(run(dns, podOf(given))).toEqual(podOf(expected).spec)
  })

  test("leaves out what is more than a pod can have", () => {
    const nameservers = ["1.1.1.1", "2.2.2.2", "3.3.3.3"]
    const many = Array.from({ length: 32 }, (_, at) => `s${at}`)
    const { dnsConfig } = run(dns, podOf({ dnsConfig: { nameservers, searches: many } }))
    expect(dnsConfig?.nameservers).toEqual(["10.0.0.10", "1.1.1.1", "2.2.2.2"])
    expect(dnsConfig?.searches).toEqual([...config.searches, ...many.slice(0, 29)])
    const long = Array.from({ length: 10 }, (_, at) => `${"a".repeat(200)}${at}`)
    const line = run(dns, podOf({ dnsConfig: { searches: long } })).dnsConfig?.searches?.join(" ") ?? ""
    expect(line).toHaveLength(config.searches.join(" ").length + 9 * 202)
  })

  test("uses the node's resolver if the tenant has no kube-dns", () => {
    expect(run(dns, podOf(), { nameServer: undefined }).dnsPolicy).toBe("Default")
  })

  test("is not changed if the pod opts out by label", () => {
    const pod = podOf({ dnsPolicy: "ClusterFirst" })
    pod.metadata.labels = { "tenancy.x-k8s.io/disable.dnsPolicyMutation": "true" }
    expect(run(dns, pod).dnsPolicy).toBe("ClusterFirst")
  })

  test("sets no searches without a cluster domain", () => {
    const spec = run(dns, podOf(), { tenant: { ...tenant, clusterDomain: "" } })
    expect(spec.dnsConfig?.searches).toEqual([])
  })
})
