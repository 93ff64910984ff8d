import { afterEach, describe, expect, test } from "vitest"
import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import { createKindsStub, faults, type KindsStub, type Loose, verdict } from "../../../testing/kinds.ts"
import { validateOnlyAddedTolerations } from "../pod-spec/scheduling.ts"

const open: KindsStub[] = []

afterEach(async () => {
  for (const stub of open.splice(0)) await stub[Symbol.asyncDispose]()
})

function setUp(): KindsStub {
  const stub = createKindsStub()
  open.push(stub)
  return stub
}

const container = (more: Loose = {}): Loose => ({ name: "a", image: "b:1", ...more })
const pod = (spec: Loose = {}, metadata: Loose = {}): Loose => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [container()], ...spec },
})

describe("create", () => {
  test("sets the defaults of kube-apiserver", async () => {
    const made = await setUp().create(
      "pods",
      pod({
        hostNetwork: true,
        containers: [container({ ports: [{ containerPort: 80 }], resources: { limits: { cpu: "1" } } })],
      }),
    )
    expect(made["spec"]).toMatchObject({
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      terminationGracePeriodSeconds: 30,
      enableServiceLinks: true,
      schedulerName: "default-scheduler",
      containers: [
        {
          imagePullPolicy: "IfNotPresent",
          terminationMessagePath: "/dev/termination-log",
          ports: [{ containerPort: 80, hostPort: 80, protocol: "TCP" }],
          resources: { limits: { cpu: "1" }, requests: { cpu: "1" } },
        },
      ],
    })
    expect(made["status"]).toEqual({ phase: "Pending", qosClass: "Burstable" })
    expect(made["metadata"].generation).toBe(1)
  })

  test("replaces a negative grace period by one second, also on update", async () => {
    const kinds = setUp()
    const negative = { terminationGracePeriodSeconds: -1 }
    const made = await kinds.create("pods", pod(negative))
    expect(made["spec"].terminationGracePeriodSeconds).toBe(1)
    const same = await kinds.patch("pods", "p", { spec: negative })
    expect(same["spec"].terminationGracePeriodSeconds).toBe(1)
    expect(same["metadata"].generation).toBe(1)
  })

  test.each([
    ["b", "Always"],
    ["b:latest", "Always"],
    ["b:1", "IfNotPresent"],
    ["r:5000/b", "Always"],
    ["b@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "IfNotPresent"],
  ])("sets the pull policy of image %s to %s", async (image, policy) => {
    const made = await setUp().create("pods", pod({ containers: [container({ image })] }))
    expect(made["spec"].containers[0].imagePullPolicy).toBe(policy)
  })

  test.each([
    [{}, "BestEffort"],
    [{ requests: { cpu: "1" } }, "Burstable"],
    [{ limits: { cpu: "1", memory: "1Gi" } }, "Guaranteed"],
    [{ limits: { cpu: "1" } }, "Burstable"],
  ])("with resources %j sets the QoS class %s", async (resources, qosClass) => {
    const made = await setUp().create("pods", pod({ containers: [container({ resources })] }))
    expect(made["status"].qosClass).toBe(qosClass)
  })

  // Messages of kube-apiserver 1.36.
  test.each<[string, Loose, string[]]>([
    ["no containers", { containers: [] }, ["spec.containers: Required value"]],
    [
      "a container without name and image",
      { containers: [{}] },
      ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
    ],
    [
      "two containers with the same name",
      { containers: [container(), container()] },
      ['spec.containers[1].name: Duplicate value: "a"'],
    ],
    [
      "a port out of range",
      { containers: [container({ ports: [{ containerPort: 70_000 }] })] },
      ["spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
    ],
    [
      "a mount of no volume",
      { containers: [container({ volumeMounts: [{ name: "v", mountPath: "/v" }] })] },
      ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
    ],
    [
      "a request above its limit",
      { containers: [container({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } })] },
      ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      "an unknown restart policy",
      { restartPolicy: "Sometimes" },
      ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ],
    [
      "an environment variable with two sources",
      {
        containers: [container({ env: [{ name: "X", value: "1", valueFrom: { fieldRef: { fieldPath: "spec.x" } } }] })],
      },
      ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
    ],
    [
      "a bad node selector",
      { nodeSelector: { "a b": "c" } },
      [
        "spec.nodeSelector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
  ])("rejects %s", async (_what, spec, expected) => {
    const messages = await faults(setUp().create("pods", pod(spec)))
    for (const line of expected) expect(messages).toContain(line)
  })

  test("a gated pod has the reason in its condition", async () => {
    const made = await setUp().create("pods", pod({ schedulingGates: [{ name: "x.y/z" }] }))
    expect(made["status"].conditions).toMatchObject([
      { type: "PodScheduled", status: "False", reason: "SchedulingGated" },
    ])
  })
})

describe("update", () => {
  test.each<[string, Loose, string]>([
    ["of the image", { containers: [container({ image: "c:2" })] }, "accepted"],
    ["of a deadline", { activeDeadlineSeconds: 5 }, "accepted"],
    ["of tolerations, by adding one", { tolerations: [{ key: "a", operator: "Exists" }] }, "accepted"],
    ["of another field", { restartPolicy: "Never" }, "pod updates may not change fields other than"],
    [
      "of the number of containers",
      { containers: [container(), container({ name: "b" })] },
      "pod updates may not add or remove containers",
    ],
  ])("decides on a change %s", async (_what, spec, expected) => {
    const kinds = setUp()
    await kinds.create("pods", pod())
    expect(await verdict(kinds.patch("pods", "p", { spec }))).toContain(expected)
  })

  test("of its status does not change the spec", async () => {
    const kinds = setUp()
    await kinds.create("pods", pod())
    const patch = { spec: { nodeName: "n" }, status: { phase: "Running", podIP: "10.0.0.1" } }
    const changed = await kinds.patch("pods", "p", patch, { subresource: "status" })
    expect(changed["spec"]).not.toHaveProperty("nodeName")
    expect(changed["status"]).toMatchObject({ phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] })
  })
})

describe("binding", () => {
  const to = (name: string): Loose => ({
    kind: "Binding",
    apiVersion: "v1",
    metadata: { name: "p" },
    target: { kind: "Node", name },
  })

  test("sets the pod's node once", async () => {
    const kinds = setUp()
    await kinds.create("pods", pod())
    await kinds.create("pods", to("n1"), "binding")
    const bound = await kinds.get("pods", "p")
    expect(bound["spec"].nodeName).toBe("n1")
    expect(bound["status"].conditions).toMatchObject([{ type: "PodScheduled", status: "True" }])
    expect(bound["metadata"].generation).toBe(1)
    expect(await verdict(kinds.create("pods", to("n2"), "binding"))).toBe(
      'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
    )
  })
})

describe("delete", () => {
  test("of a pod without a node is immediate", async () => {
    const kinds = setUp()
    await kinds.create("pods", pod())
    await kinds.delete("pods", "p")
    expect(await verdict(kinds.get("pods", "p"))).toBe('pods "p" not found')
  })

  test("of a pod on a node waits for its kubelet, and can only shorten the grace period", async () => {
    const kinds = setUp()
    await kinds.create("pods", pod({ nodeName: "n" }))
    const grace = async (): Promise<unknown> => (await kinds.get("pods", "p"))["metadata"].deletionGracePeriodSeconds
    await kinds.delete("pods", "p")
    expect(await grace()).toBe(30)
    await kinds.delete("pods", "p", { gracePeriodSeconds: 5 })
    expect(await grace()).toBe(5)
    await kinds.delete("pods", "p", { gracePeriodSeconds: 20 })
    expect(await grace()).toBe(5)
    await kinds.delete("pods", "p", { gracePeriodSeconds: 0 })
    expect(await verdict(kinds.get("pods", "p"))).toBe('pods "p" not found')
  })

  test.each(["Succeeded", "Failed"])("of a pod in phase %s is immediate", async (phase) => {
    const kinds = setUp()
    await kinds.create("pods", pod({ nodeName: "n" }))
    await kinds.patch("pods", "p", { status: { phase } }, { subresource: "status" })
    await kinds.delete("pods", "p")
    expect(await verdict(kinds.get("pods", "p"))).toBe('pods "p" not found')
  })
})

describe("eviction", () => {
  const eviction: Loose = { kind: "Eviction", apiVersion: "policy/v1", metadata: { name: "p" } }

  async function withBudget(disruptionsAllowed: number): Promise<KindsStub> {
    const kinds = setUp()
    await kinds.create("pods", pod({ nodeName: "n" }, { labels: { a: "b" } }))
    await kinds.patch(
      "pods",
      "p",
      { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
      { subresource: "status" },
    )
    await kinds.create("policy/poddisruptionbudgets", {
      metadata: { name: "b" },
      spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } },
    })
    const status = { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 }
    await kinds.patch("policy/poddisruptionbudgets", "b", { status }, { subresource: "status" })
    return kinds
  }

  test("is rejected when a budget allows no disruption", async () => {
    const kinds = await withBudget(0)
    expect(await verdict(kinds.create("pods", eviction, "eviction"))).toBe(
      "Cannot evict pod as it would violate the pod's disruption budget.",
    )
    expect((await kinds.get("pods", "p"))["metadata"]).not.toHaveProperty("deletionTimestamp")
  })

  test("is counted by the budget", async () => {
    const kinds = await withBudget(1)
    await kinds.create("pods", eviction, "eviction")
    expect((await kinds.get("pods", "p"))["metadata"]).toHaveProperty("deletionTimestamp")
    const budget = await kinds.get("policy/poddisruptionbudgets", "b")
    expect(budget["status"]).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { p: expect.any(String) } })
  })
})

// A pairwise comparison would take minutes, on every write of the pod.
test("validates many tolerations without comparing each pair", () => {
  const many = Array.from({ length: 30_000 }, (_, at) => ({
    key: `key-${at}`,
    operator: "Exists",
    effect: "NoExecute",
  }))
  const path = FieldPath.root("spec", "tolerations")
  const later = many.map((one) => ({ ...one, tolerationSeconds: 5 })).reverse()
  expect(validateOnlyAddedTolerations(path, later, many)).toEqual([])
  expect(validateOnlyAddedTolerations(path, later.slice(1), many)).toHaveLength(1)
})
