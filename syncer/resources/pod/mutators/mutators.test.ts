import { describe, expect, test } from "vitest"
import type { Pod, PodSpec } from "../../../../apimachinery/object.ts"
import { superNamespace } from "../../../../apimachinery/tenancy.ts"
import { superResource } from "../../../conversion/resource-names.ts"
import { fakeTenant } from "../../../testing/fake-tenants.ts"
import type { PodContext, PodMutator } from "../context.ts"
import { affinity } from "./affinity.ts"
import { dns } from "./dns.ts"
import { downwardAPI, downwardAPIAnnotations } from "./downward-api.ts"
import { hostAliases } from "./host-aliases.ts"
import { podMutators } from "./index.ts"
import { placement } from "./placement.ts"
import { rootCA } from "./root-ca.ts"
import { serviceAccountToken, tokenSources } from "./service-account-token.ts"
import { environmentOf, serviceEnv } from "./service-env.ts"
import { superFields } from "./super-fields.ts"

const tenant = fakeTenant("acme")
const kubernetes = { name: "kubernetes", clusterIP: "10.0.0.1", ports: [{ name: "https", port: 443, protocol: "TCP" }] }
const around: PodContext = {
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

type Container = PodSpec["containers"][number]

function podOf(spec: Partial<PodSpec> = {}, container: Partial<Container> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: "web", uid: "u1", labels: { a: "1" } },
    spec: { containers: [{ name: "main", image: "i", ...container }], ...spec } as PodSpec,
  }
}

function run(mutator: PodMutator, pod: Pod, context: Partial<PodContext> = {}): PodSpec {
  const before = structuredClone(pod)
  const { spec } = mutator.mutate(pod, { ...around, ...context })
  expect(pod).toEqual(before)
  return spec!
}

const envOf = (spec: PodSpec): Record<string, string | undefined> =>
  Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]))

describe("serviceEnv", () => {
  test("is limited to the variables that a pod can have", () => {
    const services = () => Array.from({ length: 100 }, (_, at) => ({ ...kubernetes, name: `s${at}` }))
    const containers = Array.from({ length: 1000 }, (_, at) => ({ name: `c${at}`, image: "i" })) as Container[]
    expect(() => run(serviceEnv, podOf({ containers }), { services })).toThrow("set enableServiceLinks to false")
    const { containers: made } = run(serviceEnv, podOf({ containers, enableServiceLinks: false }), { services })
    expect(made.at(-1)?.env?.at(-1)).toEqual({ name: "KUBERNETES_SERVICE_HOST", value: "kubernetes" })
  })

  test("makes no more of them than that", () => {
    let read = 0
    const ports = Array.from({ length: 60_000 }, (_, at) => ({
      get port() {
        read++
        return at + 1
      },
    }))
    const services = () => Array.from({ length: 1000 }, (_, at) => ({ ...kubernetes, name: `s${at}`, ports }))
    expect(() => run(serviceEnv, podOf(), { services })).toThrow("set enableServiceLinks to false")
    expect(read).toBeLessThan(1e6)
  })

  test("sets the kubelet's variables, with brackets, protocols and port names", () => {
    const variables = [
      ...environmentOf([
        {
          name: "my-db",
          clusterIP: "fd00::1",
          ports: [
            { name: "sql-x", port: 5432 },
            { port: 53, protocol: "UDP" },
          ],
        },
        { name: "none", clusterIP: "10.0.0.3", ports: [] },
      ]),
    ]
    expect(variables.map(({ name, value }) => `${name}=${value}`)).toEqual([
      "MY_DB_SERVICE_HOST=fd00::1",
      "MY_DB_SERVICE_PORT=5432",
      "MY_DB_SERVICE_PORT_SQL_X=5432",
      "MY_DB_PORT=tcp://[fd00::1]:5432",
      "MY_DB_PORT_5432_TCP=tcp://[fd00::1]:5432",
      "MY_DB_PORT_5432_TCP_PROTO=tcp",
      "MY_DB_PORT_5432_TCP_PORT=5432",
      "MY_DB_PORT_5432_TCP_ADDR=fd00::1",
      "MY_DB_PORT_53_UDP=udp://[fd00::1]:53",
      "MY_DB_PORT_53_UDP_PROTO=udp",
      "MY_DB_PORT_53_UDP_PORT=53",
      "MY_DB_PORT_53_UDP_ADDR=fd00::1",
    ])
  })

  const web = { name: "web", clusterIP: "10.0.0.5", ports: [{ port: 80 }] }
  test.each([
    ["links by default", undefined, true],
    ["links when asked for", true, true],
    ["none when switched off", false, false],
  ])("%s", (_name, enableServiceLinks, linked) => {
    const spec = run(serviceEnv, podOf(enableServiceLinks === undefined ? {} : { enableServiceLinks }), {
      services: () => [web],
    })
    expect(envOf(spec)["WEB_SERVICE_HOST"]).toBe(linked ? "10.0.0.5" : undefined)
    expect(envOf(spec)["KUBERNETES_SERVICE_HOST"]).toBe("kubernetes")
    expect(envOf(spec)["KUBERNETES_SERVICE_PORT"]).toBe("443")
  })

  test("prefers the pod's own variables, and applies to init containers", () => {
    const env = [{ name: "KUBERNETES_SERVICE_HOST", value: "mine" }]
    const spec = run(serviceEnv, podOf({ initContainers: [{ name: "init" }] }, { env }))
    expect(spec.containers[0]?.env?.filter(({ name }) => name === "KUBERNETES_SERVICE_HOST")).toEqual(env)
    expect(spec.initContainers?.[0]?.env?.some(({ name }) => name === "KUBERNETES_SERVICE_HOST")).toBe(true)
  })

  test("does not hide what a ConfigMap or Secret gives", () => {
    const envFrom = [{ prefix: "WEB_", configMapRef: { name: "a" } }, { secretRef: { name: "b" } }]
    const data = { a: { PORT: "mine" }, b: { KUBERNETES_SERVICE_PORT: "mine" } }
    const variablesOf: PodContext["variablesOf"] = ({ configMapRef, secretRef }) =>
      configMapRef?.name === "a" ? data.a : secretRef?.name === "b" ? data.b : undefined
    const spec = run(serviceEnv, podOf({}, { envFrom }), { services: () => [web], variablesOf })
    expect(envOf(spec)).not.toHaveProperty("WEB_PORT")
    expect(envOf(spec)).not.toHaveProperty("KUBERNETES_SERVICE_PORT")
    expect(envOf(spec)).toMatchObject({ WEB_SERVICE_PORT: "80", KUBERNETES_SERVICE_HOST: "kubernetes" })
  })
})

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

test("a resource of another tenant cannot be asked for, however long its name is", () => {
  const others = superResource(`${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}/dongle`, fakeTenant("other"))!
  const wanted = { nodeSelector: undefined, nodeAffinity: undefined, resources: [others] }
  const spec = run(placement, podOf({}, { resources: { limits: { [others]: "1" } } }), { placement: wanted })
  expect(spec.containers[0]?.resources?.limits).toEqual({ "too-long.tenancy.x-k8s.io/resource": "1" })
})

describe("serviceAccountToken", () => {
  const volumes = [
    { name: "plain", emptyDir: {} },
    {
      name: "kube-api-access-x",
      projected: {
        sources: [
          { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
          { configMap: { name: "kube-root-ca.crt" } },
          { serviceAccountToken: { path: "vault", audience: "vault" } },
        ],
      },
    },
  ] as NonNullable<PodSpec["volumes"]>

  test("finds the token sources of the pod", () => {
    expect(tokenSources(podOf({ volumes }))).toEqual([
      { key: "token-1-0", audience: undefined, expirationSeconds: 3607 },
      { key: "token-1-2", audience: "vault", expirationSeconds: 3600 },
    ])
  })

  test("replaces the sources with the Secret", () => {
    const sources = run(serviceAccountToken, podOf({ volumes })).volumes?.[1]?.projected?.sources
    expect(sources).toEqual([
      { secret: { name: "pod-token-u1", items: [{ key: "token-1-0", path: "token" }] } },
      { configMap: { name: "kube-root-ca.crt" } },
      { secret: { name: "pod-token-u1", items: [{ key: "token-1-2", path: "vault" }] } },
    ])
  })

  test("ignores other volumes with the usual name", () => {
    const ordinary = [{ name: "kube-api-access-x", emptyDir: {} }]
    expect(run(serviceAccountToken, podOf({ volumes: ordinary })).volumes).toEqual(ordinary)
  })
})

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

test("affinity is restricted to the tenant, with super names of namespaces", () => {
  const term = {
    topologyKey: "zone",
    labelSelector: { matchLabels: { a: "1" } },
    namespaces: ["other"],
    namespaceSelector: {
      matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["other"] }],
    },
  }
  const spec = run(
    affinity,
    podOf({
      affinity: {
        nodeAffinity: {},
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
        podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] },
      },
    }),
  )
  const restricted = {
    topologyKey: "zone",
    labelSelector: { matchLabels: { a: "1", "tenancy.x-k8s.io/cluster": tenant.clusterKey } },
    namespaces: [superNamespace(tenant.clusterKey, "other")],
    namespaceSelector: {
      matchLabels: { "tenancy.x-k8s.io/cluster": tenant.clusterKey },
      matchExpressions: [
        { key: "kubernetes.io/metadata.name", operator: "In", values: [superNamespace(tenant.clusterKey, "other")] },
      ],
    },
  }
  expect(spec.affinity).toEqual({
    nodeAffinity: {},
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [restricted] },
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: restricted }] },
  })
})

test("selectors include the values of matchLabelKeys, without the keys", () => {
  const matchExpressions = [
    { key: "a", operator: "In", values: ["1"] },
    { key: "team", operator: "NotIn", values: ["t"] },
  ]
  const term = { topologyKey: "zone", labelSelector: { matchExpressions } }
  const keys = { matchLabelKeys: ["a"], mismatchLabelKeys: ["team"] }
  const constraint = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {} }
  const spec = run(
    affinity,
    podOf({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, ...keys }],
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { ...term, ...keys } }],
        },
      },
      topologySpreadConstraints: [{ ...constraint, matchLabelKeys: ["a"] }, constraint],
    }),
  )
  const restricted = {
    topologyKey: "zone",
    labelSelector: { matchLabels: { "tenancy.x-k8s.io/cluster": tenant.clusterKey }, matchExpressions },
  }
  expect(spec.affinity).toEqual({
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [restricted],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: restricted }],
    },
  })
  expect(spec.topologySpreadConstraints).toEqual([constraint, constraint])
})

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

test.each([
  ["system-node-critical", "system-node-critical"],
  ["only-in-the-tenant", undefined],
])("superFields keeps priority class %s: %s", (priorityClassName, expected) => {
  const spec = run(
    superFields,
    podOf({ priorityClassName, priority: 7, preemptionPolicy: "Never", serviceAccount: "x" }),
  )
  expect(spec).toEqual({
    ...podOf().spec,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(expected === undefined ? {} : { priorityClassName: expected }),
  })
})

test("runtimeClassName is the class's name in super", () => {
  const name = (runtimeClassName: string) =>
    superFields.mutate(podOf({ runtimeClassName }), around).spec?.runtimeClassName
  expect([name("gvisor"), name("kata")]).toEqual(["acme-gvisor", "kata"])
})

test("all mutators keep hostname, subdomain and the fields that super's admission checks", () => {
  const kept = {
    hostname: "h",
    subdomain: "s",
    nodeSelector: { zone: "a" },
    hostNetwork: true,
    runtimeClassName: "kata",
    schedulerName: "other",
    securityContext: { runAsUser: 1 },
    serviceAccountName: "robot",
    nodeName: "node-1",
  }
  const made = podMutators.reduce((pod, mutator) => mutator.mutate(pod, around), podOf(kept))
  expect(made.spec).toMatchObject(kept)
})
