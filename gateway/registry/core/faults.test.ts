// What objects of core/v1 are refused for, and those of kinds that share their parts. Messages of kube-apiserver 1.36.

import { describe, expect, test } from "vitest"
import { faults, type Loose, shareKinds } from "../../testing/kinds.ts"

const { kinds, next } = shareKinds()
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const badRange = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
const featureRule =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
const pod = (spec: Loose = {}, container: Loose = {}): Loose => ({
  spec: { containers: [{ name: "a", image: "b", ...container }], ...spec },
})
const workload = { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, ...pod() } }
const claim = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } } }
const volume = (capacity: Loose | undefined): Loose => ({
  spec: { accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" }, capacity },
})

describe("faults of a new object", () => {
  test.each<[string, Loose, string[]]>([
    [
      "nodes",
      { spec: { podCIDRs: ["x", "10.0.0.0/24"] } },
      [
        `spec.podCIDRs[0]: Invalid value: "x": ${badRange}`,
        "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[0]: <nil> (invalid CIDR address: x)",
        'spec.podCIDRs: Invalid value: ["x","10.0.0.0/24"]: may specify no more than one CIDR for each IP family',
      ],
    ],
    ["nodes", { spec: { podCIDRs: ["10.0.0.0/24", "fd00::/64"] } }, []],
    // The object of an event may have a name that is valid only for its kind.
    ["events", { metadata: { name: "system:node.17" }, involvedObject: { namespace: "default" } }, []],
    [
      "nodes",
      { status: { nodeInfo: { swap: { capacity: 0 } } } },
      ["metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"],
    ],
    [
      "nodes",
      {
        spec: {
          taints: [
            { key: "k", effect: "NoSchedule" },
            { key: "k", effect: "NoSchedule" },
          ],
        },
      },
      [
        'metadata.taints[1]: Duplicate value: {"Key":"k","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
    [
      "nodes",
      { status: { declaredFeatures: ["b", "A"] } },
      [
        `status.declaredFeatures[0]: Invalid value: "b": invalid feature name "b": ${featureRule}`,
        'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
      ],
    ],
    [
      "persistentvolumes",
      volume({}),
      ["spec.capacity: Required value", 'spec.capacity: Unsupported value: {}: supported values: "storage"'],
    ],
    [
      "persistentvolumes",
      volume(undefined),
      ["spec.capacity: Required value", 'spec.capacity: Unsupported value: null: supported values: "storage"'],
    ],
    [
      "persistentvolumes",
      volume({ storage: "-1" }),
      [
        "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
        'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
      ],
    ],
    [
      "services",
      { spec: { ports: [{ port: 80 }, { port: 80 }] } },
      [
        "spec.ports[0].name: Required value",
        "spec.ports[1].name: Required value",
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
      ],
    ],
    [
      "endpoints",
      { subsets: [{ addresses: [{ ip: "10.0.0.1", nodeName: "" }] }] },
      [`subsets[0].addresses[0].nodeName: Invalid value: "": ${subdomain}`],
    ],
    [
      "replicationcontrollers",
      { metadata: { name: "x".repeat(254) }, spec: { template: workload.template } },
      [`metadata.name: Invalid value: "${"x".repeat(254)}": must be no more than 253 bytes`],
    ],
    [
      "replicationcontrollers",
      { metadata: { name: "fine", generateName: "Not valid" }, spec: { template: workload.template } },
      [],
    ],
    [
      "autoscaling/horizontalpodautoscalers",
      {
        spec: {
          maxReplicas: 1,
          scaleTargetRef: { apiVersion: "a/v1", kind: "A", name: "a" },
          behavior: { scaleUp: { policies: [] } },
        },
      },
      ["spec.behavior.scaleUp.policies: Required value: must specify at least one Policy"],
    ],
    [
      "apps/statefulsets",
      {
        spec: {
          ...workload,
          volumeClaimTemplates: [
            { metadata: { name: "data" }, ...claim },
            { metadata: { name: "data" }, ...claim },
          ],
        },
      },
      [],
    ],
    [
      "pods",
      pod({ ephemeralContainers: [{ name: "e", image: "b", ports: [], lifecycle: {} }] }),
      [
        "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
        "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container",
        "spec.ephemeralContainers: Forbidden: cannot be set on create",
      ],
    ],
    [
      "pods",
      pod({}, { resizePolicy: [{ restartPolicy: "NotRequired" }, { restartPolicy: "NotRequired" }] }),
      [
        "spec.containers[0].resizePolicy: Required value",
        'spec.containers[0].resizePolicy[1]: Duplicate value: ""',
        "spec.containers[0].resizePolicy: Required value",
      ],
    ],
    [
      "pods",
      pod({}, { restartPolicyRules: [{ action: "Ignore" }, { action: "Restart", exitCodes: { operator: "Is" } }] }),
      [
        "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
        'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "Ignore": supported values: "Restart", "RestartAllContainers"',
        "spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified",
        'spec.containers[0].restartPolicyRules[1].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
      ],
    ],
    [
      "pods",
      pod(
        { volumes: [{ name: "v" }] },
        { volumeMounts: [{ name: "v", mountPath: "/v", recursiveReadOnly: "Enabled" }] },
      ),
      ["spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true"],
    ],
    [
      "pods",
      pod({}, { resources: { claims: [{ name: "c" }] } }),
      [
        'spec.containers[0].resources.claims[0]: Not found: "c": must be one of the names in pod.spec.resourceClaims which is empty',
      ],
    ],
    ["pods", pod({ runtimeClassName: "" }), [`spec.runtimeClassName: Invalid value: "": ${subdomain}`]],
    [
      "pods",
      pod({}, { env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v2", fieldPath: "metadata.name" } } }] }),
      [
        'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
      ],
    ],
  ])("of %s are reported: %j", async (what, object, expected) => {
    const metadata = { name: next(), ...object["metadata"] }
    expect(await faults(kinds.create(what, { ...object, metadata }))).toEqual(expected)
  })
})

describe("faults of a status", () => {
  test.each<[string, Loose, Loose, string[]]>([
    [
      "pods",
      pod(),
      {
        podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }],
        extendedResourceClaimStatus: {
          resourceClaimName: "c",
          requestMappings: [{ containerName: "x", requestName: "r" }],
        },
        containerStatuses: [
          {
            name: "a",
            user: { linux: { uid: -1, gid: 1 } },
            allocatedResourcesStatus: [{ name: "example.com/d", resources: [{ resourceID: "1", health: "Fine" }] }],
          },
        ],
      },
      [
        'status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "x": must match the name of an entry in spec.initContainers.name or spec.containers.name',
        'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
        "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive",
        'status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "example.com/d": must match one of the container\'s resource requests',
        'status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown"',
      ],
    ],
    [
      "persistentvolumeclaims",
      claim,
      { capacity: { storage: "-1" }, allocatedResources: { cpu: "1" }, allocatedResourceStatuses: { storage: "x" } },
      [
        "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
        'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
        'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
      ],
    ],
    [
      "nodes",
      {},
      {
        addresses: [
          { type: "Hostname", address: "a" },
          { type: "Hostname", address: "a" },
        ],
      },
      ['status.addresses[1]: Duplicate value: {"Type":"Hostname","Address":"a"}'],
    ],
    [
      "replicationcontrollers",
      { spec: { template: workload.template } },
      { replicas: 1, availableReplicas: 1 },
      ["status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"],
    ],
    [
      "apps/replicasets",
      { spec: workload },
      { replicas: 0, terminatingReplicas: -1 },
      ["status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0"],
    ],
  ])("of %s are reported", async (what, object, status, expected) => {
    const name = next()
    await kinds.create(what, { ...object, metadata: { name } })
    expect(await faults(kinds.patch(what, name, { status }, { subresource: "status" }))).toEqual(expected)
  })
})
