import { describe, expect, test } from "vitest"
import { clusterLabel, superNamespace } from "../../apimachinery/tenancy.ts"
import { settingsOf } from "../options.ts"
import { fakeTenant } from "../testing/fake-tenants.ts"
import { networkPolicy, type NetworkPolicy } from "./networkpolicy.ts"
import { emptyView, type SyncContext } from "./resource-sync.ts"

const tenant = fakeTenant("acme", { opaqueMetaPrefixes: ["hidden.example.com"] })
const own = { [clusterLabel]: tenant.clusterKey }
const inSuper = (namespace: string): string => superNamespace(tenant.clusterKey, namespace)
const nameLabel = "kubernetes.io/metadata.name"

const contextWith = (networkPolicies: "allow" | "deny"): SyncContext => ({
  tenant,
  settings: settingsOf({ networkPolicies }),
  now: 0,
  view: emptyView,
})
const allowing = contextWith("allow")

const policy = (spec: object): NetworkPolicy => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { namespace: "apps", name: "web", uid: "u1" },
  spec,
})
const specOf = (spec: object): unknown => networkPolicy.toSuper(policy(spec), allowing).spec

describe("a network policy's copy", () => {
  const from = (...peers: object[]): object => ({
    podSelector: {},
    policyTypes: ["Ingress"],
    ingress: [{ from: peers }],
  })

  test("equals the tenant's except for namespaces", () => {
    const spec = {
      podSelector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "Exists" }] },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{}, { ports: [{ port: "http", protocol: "TCP" }] }, { from: [{ podSelector: {} }] }],
      egress: [
        {
          ports: [{ port: 5000, endPort: 6000, protocol: "UDP" }],
          to: [
            { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
            { podSelector: { matchLabels: { a: "b" } } },
          ],
        },
      ],
    }
    expect(specOf(spec)).toEqual(spec)
  })

  test.each<[string, object, object]>([
    ["every namespace is every one of the tenant's", {}, { matchLabels: own }],
    ["by label", { matchLabels: { team: "a" } }, { matchLabels: { team: "a", ...own } }],
    ["by name", { matchLabels: { [nameLabel]: "db" } }, { matchLabels: { [nameLabel]: inSuper("db"), ...own } }],
    [
      "by several names",
      { matchExpressions: [{ key: nameLabel, operator: "NotIn", values: ["a", "b"] }] },
      {
        matchLabels: own,
        matchExpressions: [{ key: nameLabel, operator: "NotIn", values: [inSuper("a"), inSuper("b")] }],
      },
    ],
    ["by another tenant's mark", { matchLabels: { [clusterLabel]: "other" } }, { matchLabels: own }],
  ])("namespaces: %s", (_name, namespaceSelector, expected) => {
    const podSelector = { matchLabels: { app: "x" } }
    expect(specOf(from({ namespaceSelector, podSelector }))).toEqual(from({ namespaceSelector: expected, podSelector }))
    const egress = { podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [{ namespaceSelector }] }] }
    expect(specOf(egress)).toMatchObject({ egress: [{ to: [{ namespaceSelector: expected }] }] })
  })

  test("omits peers of unknown types", () => {
    expect(specOf(from({ everybody: {} }))).toEqual(from({}))
  })

  test.each<[string, object, object, unknown]>([
    ["the same", from({ podSelector: {} }), from({ podSelector: {} }), undefined],
    [
      "empty lists, which servers leave out",
      { podSelector: { matchLabels: {} }, policyTypes: ["Ingress"], ingress: [] },
      { podSelector: {}, policyTypes: ["Ingress"] },
      undefined,
    ],
    [
      "another rule",
      from({ podSelector: {} }),
      { podSelector: {}, policyTypes: ["Ingress"] },
      { ingress: [{ from: [{ podSelector: {} }] }] },
    ],
    [
      "an empty rule differs from no rule",
      { podSelector: {}, policyTypes: ["Ingress"], ingress: [{}] },
      { podSelector: {}, policyTypes: ["Ingress"], ingress: [] },
      { ingress: [{}] },
    ],
    [
      "fewer labels",
      { podSelector: {}, policyTypes: ["Ingress"] },
      { podSelector: { matchLabels: { a: "b" } }, policyTypes: ["Ingress"] },
      { podSelector: { matchLabels: null } },
    ],
  ])("changes: %s", (_name, wanted, present, expected) => {
    const patches = networkPolicy.changed(policy(wanted), policy(present), allowing)
    expect(patches[0]?.patch["spec"]).toEqual(expected)
  })

  test.each<[string, object, RegExp | undefined]>([
    ["copied labels", from({ namespaceSelector: { matchLabels: { [nameLabel]: "a", team: "b" } } }), undefined],
    [
      "pods' labels",
      { podSelector: { matchLabels: { "hidden.example.com/a": "b" } } },
      /^spec\.podSelector: the label/,
    ],
    [
      "namespaces' labels",
      from({ podSelector: {} }, { namespaceSelector: { matchLabels: { "pod-security.kubernetes.io/enforce": "x" } } }),
      /^spec\.ingress\[0\]\.from\[1\]\.namespaceSelector: the label "pod-security/,
    ],
    [
      "in requirements",
      { egress: [{}, { to: [{ podSelector: { matchExpressions: [{ key: clusterLabel, operator: "Exists" }] } }] }] },
      /^spec\.egress\[1\]\.to\[0\]\.podSelector: /,
    ],
  ])("selects by existing labels: %s", (_name, spec, message) => {
    const reason = networkPolicy.unsupported?.(policy(spec), allowing)
    if (message === undefined) expect(reason).toBeUndefined()
    else expect(reason).toMatch(message)
  })

  test("exists only if super's administrator allows it", () => {
    const one = policy({ podSelector: {} })
    expect(networkPolicy.unsupported?.(one, contextWith("deny"))).toMatch(/not copied/)
    expect(networkPolicy.outdated?.(one, one, contextWith("deny"))).toBe(true)
    expect(networkPolicy.outdated?.(one, one, allowing)).toBe(false)
  })
})
