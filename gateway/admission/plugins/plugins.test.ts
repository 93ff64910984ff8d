import { expect, describe, test } from "vitest"
import { createKindsStub, type KindsStub, type Loose, verdict } from "../../testing/kinds.ts"
import { defaultStorageClass } from "./default-classes.ts"
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts"
import { limitRanger } from "./limit-ranger.ts"
import { persistentVolumeClaimResize } from "./claim-resize.ts"
import { priority } from "./priority.ts"
import { runtimeClass } from "./runtime-class.ts"
import { serviceAccount } from "./service-account.ts"

const pod = (name: string, spec: Loose = {}, container: Loose = {}): Loose => ({
  metadata: { name },
  spec: { containers: [{ name: "a", image: "b", ...container }], ...spec },
})

describe("ServiceAccount", () => {
  async function withAccount(more: Loose = {}): Promise<KindsStub> {
    const kinds = createKindsStub({ plugins: [serviceAccount] })
    await kinds.create("serviceaccounts", { metadata: { name: "default" }, ...more })
    return kinds
  }

  test("rejects a missing account", async () => {
    await using kinds = createKindsStub({ plugins: [serviceAccount] })
    expect(await verdict(kinds.create("pods", pod("p")))).toBe(
      'pods "p" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
    )
  })

  test("waits for the default account of a namespace", async () => {
    await using kinds = createKindsStub({ plugins: [serviceAccount] })
    const created = kinds.create("pods", pod("p"))
    await kinds.create("serviceaccounts", { metadata: { name: "default" } })
    expect((await created)["spec"].serviceAccountName).toBe("default")
  })

  test("does not wait for other accounts", async () => {
    await using kinds = createKindsStub({ plugins: [serviceAccount] })
    const created = verdict(kinds.create("pods", pod("p", { serviceAccountName: "other" })))
    await kinds.create("serviceaccounts", { metadata: { name: "other" } })
    expect(await created).toBe(
      'pods "p" is forbidden: error looking up service account default/other: serviceaccount "other" not found',
    )
  })

  test("mounts a token, the authority and the namespace into every container", async () => {
    await using kinds = await withAccount()
    const { spec } = await kinds.create("pods", pod("p", { initContainers: [{ name: "i", image: "b" }] }))
    expect(spec.serviceAccountName).toBe("default")
    const [volume] = spec.volumes
    expect(volume.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/)
    expect(volume.projected).toEqual({
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
    })
    const mount = { name: volume.name, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }
    for (const container of [...spec.containers, ...spec.initContainers])
      expect(container.volumeMounts).toEqual([mount])
  })

  test.each<[string, Loose, Loose]>([
    ["the pod", {}, { automountServiceAccountToken: false }],
    ["the account", { automountServiceAccountToken: false }, {}],
  ])("mounts nothing when %s disables it", async (_who, account, spec) => {
    await using kinds = await withAccount(account)
    expect((await kinds.create("pods", pod("p", spec)))["spec"]).not.toHaveProperty("volumes")
  })

  test("sets the account's pull secrets in pods without any", async () => {
    await using kinds = await withAccount({ imagePullSecrets: [{ name: "s" }] })
    expect((await kinds.create("pods", pod("p")))["spec"].imagePullSecrets).toEqual([{ name: "s" }])
    const own = pod("q", { imagePullSecrets: [{ name: "t" }] })
    expect((await kinds.create("pods", own))["spec"].imagePullSecrets).toEqual([{ name: "t" }])
  })
})

describe("Priority", () => {
  async function withClasses(): Promise<KindsStub> {
    const kinds = createKindsStub({ plugins: [priority] })
    await kinds.create("scheduling.k8s.io/priorityclasses", {
      metadata: { name: "usual" },
      value: 7,
      globalDefault: true,
    })
    await kinds.create("scheduling.k8s.io/priorityclasses", {
      metadata: { name: "high" },
      value: 9,
      preemptionPolicy: "Never",
    })
    return kinds
  }

  test.each<[string, Loose, Loose]>([
    ["the default class", {}, { priorityClassName: "usual", priority: 7, preemptionPolicy: "PreemptLowerPriority" }],
    ["the class named", { priorityClassName: "high" }, { priority: 9, preemptionPolicy: "Never" }],
  ])("resolves %s", async (_what, spec, expected) => {
    await using kinds = await withClasses()
    expect((await kinds.create("pods", pod("p", spec)))["spec"]).toMatchObject(expected)
  })

  test.each<[Loose, string]>([
    [{ priorityClassName: "none" }, 'pods "p" is forbidden: no PriorityClass with name none was found'],
    [
      { priority: 5 },
      'pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 7 from the given PriorityClass name',
    ],
  ])("rejects %j", async (spec, expected) => {
    await using kinds = await withClasses()
    expect(await verdict(kinds.create("pods", pod("p", spec)))).toBe(expected)
  })

  test("ignores deletions of pods", async () => {
    await using kinds = await withClasses()
    await kinds.create("pods", pod("p"))
    await kinds.delete("pods", "p", { gracePeriodSeconds: 0 })
  })

  test("only one class can be the default", async () => {
    await using kinds = await withClasses()
    const second = { metadata: { name: "second" }, value: 1, globalDefault: true }
    expect(await verdict(kinds.create("scheduling.k8s.io/priorityclasses", second))).toContain(
      "PriorityClass usual is already marked as default",
    )
  })
})

describe("LimitRanger", () => {
  const limits = {
    type: "Container",
    default: { cpu: "200m" },
    defaultRequest: { cpu: "100m" },
    max: { cpu: "1" },
    min: { cpu: "50m" },
  }

  async function withLimits(): Promise<KindsStub> {
    const kinds = createKindsStub({ plugins: [limitRanger] })
    await kinds.create("limitranges", { metadata: { name: "l" }, spec: { limits: [limits] } })
    return kinds
  }

  test("sets defaults for containers", async () => {
    await using kinds = await withLimits()
    const made = await kinds.create("pods", pod("p"))
    expect(made["spec"].containers[0].resources).toEqual({ limits: { cpu: "200m" }, requests: { cpu: "100m" } })
    expect(made["metadata"].annotations).toEqual({
      "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container a; cpu limit for container a",
    })
  })

  test.each<[Loose, string]>([
    [{ limits: { cpu: "2" } }, "maximum cpu usage per Container is 1, but limit is 2"],
    [{ requests: { cpu: "10m" } }, "minimum cpu usage per Container is 50m, but request is 10m"],
  ])("rejects %j", async (resources, expected) => {
    await using kinds = await withLimits()
    expect(await verdict(kinds.create("pods", pod("p", {}, { resources })))).toContain(expected)
  })

  // As many faults, or defaults, as there are containers times names would take all memory.
  const names = Array.from({ length: 5_000 }, (_, index) => `example.com/${index}`)
  const all = Object.fromEntries(names.map((name) => [name, "1"]))
  const containers = names.map((_, index) => ({ name: `c${index}`, image: "i" }))

  test.each<[string, Loose, string]>([
    ["bounds", { maxLimitRequestRatio: all }, "but no request is specified or request is 0"],
    ["defaults", { default: all }, "metadata.annotations: Too long"],
  ])("has many %s for a pod of many containers", async (_, bounds, expected) => {
    await using kinds = createKindsStub({ plugins: [limitRanger] })
    await kinds.create("limitranges", { metadata: { name: "l" }, spec: { limits: [{ type: "Container", ...bounds }] } })
    expect(await verdict(kinds.create("pods", pod("p", { containers })))).toContain(expected)
  })
})

describe("other defaults", () => {
  test("a pod tolerates an unreachable node for five minutes", async () => {
    await using kinds = createKindsStub({ plugins: [defaultTolerationSeconds] })
    const made = await kinds.create("pods", pod("p"))
    expect(made["spec"].tolerations).toEqual(
      ["not-ready", "unreachable"].map((taint) => ({
        key: `node.kubernetes.io/${taint}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
    )
  })

  const claim = (more: Loose = {}): Loose => ({
    metadata: { name: "c" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...more },
  })
  const storageClass = (more: Loose = {}): Loose => ({
    metadata: { name: "sc", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "x.y/z",
    ...more,
  })

  test("a claim gets the default class unless it has an empty one", async () => {
    await using kinds = createKindsStub({ plugins: [defaultStorageClass] })
    await kinds.create("storage.k8s.io/storageclasses", storageClass())
    expect((await kinds.create("persistentvolumeclaims", claim()))["spec"].storageClassName).toBe("sc")
    const none = { ...claim({ storageClassName: "" }), metadata: { name: "d" } }
    expect((await kinds.create("persistentvolumeclaims", none))["spec"].storageClassName).toBe("")
  })

  test.each([
    [true, "accepted"],
    [
      false,
      "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
    ],
  ])("a bound claim grows when its class allows expansion: %s", async (allowVolumeExpansion, expected) => {
    await using kinds = createKindsStub({ plugins: [defaultStorageClass, persistentVolumeClaimResize] })
    await kinds.create("storage.k8s.io/storageclasses", storageClass({ allowVolumeExpansion }))
    await kinds.create("persistentvolumeclaims", claim())
    await kinds.patch("persistentvolumeclaims", "c", { status: { phase: "Bound" } }, { subresource: "status" })
    const bigger = { spec: { resources: { requests: { storage: "2Gi" } } } }
    expect(await verdict(kinds.patch("persistentvolumeclaims", "c", bigger))).toContain(expected)
  })

  test("a runtime class sets its overhead", async () => {
    await using kinds = createKindsStub({ plugins: [runtimeClass] })
    const overhead = { podFixed: { cpu: "10m" } }
    await kinds.create("node.k8s.io/runtimeclasses", { metadata: { name: "kata" }, handler: "kata", overhead })
    expect((await kinds.create("pods", pod("p", { runtimeClassName: "kata" })))["spec"].overhead).toEqual({
      cpu: "10m",
    })
    expect(await verdict(kinds.create("pods", pod("q", { runtimeClassName: "none" })))).toContain(
      'pod rejected: RuntimeClass "none" not found',
    )
  })
})
