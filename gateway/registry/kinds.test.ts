// What the kinds add to the generic registry: defaults, and scale.

import { describe, expect, test } from "vitest"
import { type Loose, shareKinds, verdict } from "../testing/kinds.ts"
import { builtInDefinitions } from "./definitions.ts"
import { kinds as extensions } from "./kinds.ts"
import { never, selected, template } from "../testing/workloads.ts"

const { kinds, next } = shareKinds()

test("every extension belongs to an existing resource", () => {
  const known = new Set(builtInDefinitions().map(({ group, resource }) => `${group}/${resource}`))
  expect(Object.keys(extensions).filter((key) => !known.has(key))).toEqual([])
})

describe("defaults", () => {
  test.each<[string, Loose, Loose]>([
    [
      "apps/deployments",
      { spec: selected() },
      {
        spec: {
          replicas: 1,
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
          revisionHistoryLimit: 10,
          progressDeadlineSeconds: 600,
          template: { spec: { restartPolicy: "Always", containers: [{ imagePullPolicy: "Always" }] } },
        },
      },
    ],
    ["apps/replicasets", { spec: selected() }, { spec: { replicas: 1 } }],
    [
      "apps/statefulsets",
      { spec: selected({ serviceName: "s" }) },
      {
        spec: {
          podManagementPolicy: "OrderedReady",
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        },
      },
    ],
    [
      "apps/daemonsets",
      { spec: selected() },
      { spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } },
    ],
    [
      "replicationcontrollers",
      { spec: { template: template() } },
      { metadata: { labels: { a: "b" } }, spec: { replicas: 1, selector: { a: "b" } } },
    ],
    [
      "batch/jobs",
      { spec: { template: never } },
      { spec: { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false } },
    ],
    [
      "batch/cronjobs",
      { spec: { schedule: "* * * * *", jobTemplate: { spec: { template: never } } } },
      {
        spec: { concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
      },
    ],
    ["secrets", { stringData: { a: "b" } }, { type: "Opaque", data: { a: "Yg==" } }],
    ["policy/poddisruptionbudgets", { spec: { selector: {} } }, { spec: { selector: {} } }],
    [
      "networking.k8s.io/networkpolicies",
      { spec: { podSelector: {}, egress: [] } },
      { spec: { policyTypes: ["Ingress"] } },
    ],
    [
      "rbac.authorization.k8s.io/rolebindings",
      { roleRef: { kind: "Role", name: "r" }, subjects: [{ kind: "User", name: "u" }] },
      { roleRef: { apiGroup: "rbac.authorization.k8s.io" }, subjects: [{ apiGroup: "rbac.authorization.k8s.io" }] },
    ],
    [
      "storage.k8s.io/storageclasses",
      { provisioner: "x.y/z" },
      { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
    ],
    [
      "persistentvolumeclaims",
      { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } } },
      { spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } },
    ],
  ])("of %s", async (what, object, expected) => {
    const made = await kinds.create(what, { ...object, metadata: { name: next() } })
    expect(made).toMatchObject(expected)
  })

  test("a job selects its own pods by its uid", async () => {
    const name = next()
    const { metadata, spec } = await kinds.create("batch/jobs", { metadata: { name }, spec: { template: never } })
    const uid = { "batch.kubernetes.io/controller-uid": metadata.uid }
    expect(spec.selector).toEqual({ matchLabels: uid })
    const labels = { ...uid, "controller-uid": metadata.uid, "job-name": name, "batch.kubernetes.io/job-name": name }
    expect(spec.template.metadata.labels).toMatchObject(labels)
  })
})

describe("scale", () => {
  test.each(["apps/deployments", "apps/replicasets", "apps/statefulsets"])("of %s", async (what) => {
    const name = next()
    await kinds.create(what, {
      metadata: { name },
      spec: selected({ serviceName: what.endsWith("statefulsets") ? "s" : undefined }),
    })
    const scaled = await kinds.patch(what, name, { spec: { replicas: 5 } }, { subresource: "scale" })
    expect(scaled).toMatchObject({ kind: "Scale", spec: { replicas: 5 }, status: { replicas: 0, selector: "a=b" } })
    expect((await kinds.get(what, name))["spec"].replicas).toBe(5)
    expect(await verdict(kinds.patch(what, name, { spec: { replicas: -5 } }, { subresource: "scale" }))).toBe(
      `Scale.autoscaling "${name}" is invalid: spec.replicas: Invalid value: -5: must be greater than or equal to 0`,
    )
  })
})
