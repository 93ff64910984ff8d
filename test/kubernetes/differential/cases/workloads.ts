// Templates as people write them, with what is commonly wrong in them; and several kinds that depend on other objects.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  mergePatch,
  patch,
  post,
  put,
  strategicPatch,
  type RequestStep,
  type Scenario,
} from "../scenario.ts"
import { kindNamed, type JsonObject } from "../generate/objects.ts"

const container = { name: "main", image: "busybox" }

/** What differs from the minimal template, by a name for it. */
const templates: Readonly<Record<string, JsonObject>> = {
  "no containers": { containers: [] },
  "two of one name": { containers: [container, container] },
  "never restarted": { restartPolicy: "Never", containers: [container] },
  "a deadline": { activeDeadlineSeconds: 5, containers: [container] },
  "an unknown volume": { containers: [{ ...container, volumeMounts: [{ name: "absent", mountPath: "/x" }] }] },
  "a mount twice": {
    volumes: [{ name: "v" }],
    containers: [
      {
        ...container,
        volumeMounts: [
          { name: "v", mountPath: "/x" },
          { name: "v", mountPath: "/x" },
        ],
      },
    ],
  },
  "a variable twice": {
    containers: [
      {
        ...container,
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
    ],
  },
  "a port twice": { containers: [{ ...container, ports: [{ containerPort: 80 }, { containerPort: 80 }] }] },
  "more requested than allowed": {
    containers: [{ ...container, resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }],
  },
  "a fraction of a byte": { containers: [{ ...container, resources: { limits: { memory: "100m" } } }] },
  "old node labels": { nodeSelector: { "beta.kubernetes.io/os": "linux" }, containers: [container] },
  "old affinity": {
    containers: [container],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "beta.kubernetes.io/arch", operator: "In", values: ["a"] }] },
          ],
        },
      },
    },
  },
  "an old volume": { volumes: [{ name: "v", gitRepo: { repository: "x" } }], containers: [container] },
  "a negative grace period": { terminationGracePeriodSeconds: -1, containers: [container] },
  "a probe and no handler": { containers: [{ ...container, livenessProbe: {} }] },
  "two handlers": {
    containers: [{ ...container, readinessProbe: { exec: { command: ["x"] }, tcpSocket: { port: 1 } } }],
  },
  "host network": { hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 81 }] }] },
  "privileged without escalation": {
    containers: [{ ...container, securityContext: { privileged: true, allowPrivilegeEscalation: false } }],
  },
  everything: {
    serviceAccountName: "default",
    hostname: "host",
    subdomain: "sub",
    priorityClassName: "system-node-critical",
    tolerations: [{ operator: "Exists" }],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", labelSelector: {} },
    ],
    dnsConfig: { nameservers: ["1.2.3.4"], searches: ["a.b"], options: [{ name: "ndots", value: "2" }] },
    volumes: [{ name: "c", configMap: { name: "c", items: [{ key: "a", path: "b" }] } }],
    initContainers: [
      { name: "init", image: "busybox", restartPolicy: "Always", startupProbe: { httpGet: { port: 80 } } },
    ],
    containers: [
      {
        ...container,
        command: ["sh"],
        envFrom: [{ prefix: "P_", secretRef: { name: "s" } }],
        env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
        lifecycle: { preStop: { sleep: { seconds: 5 } } },
        volumeMounts: [{ name: "c", mountPath: "/c", subPath: "x", readOnly: true }],
        securityContext: { runAsUser: 1, capabilities: { drop: ["ALL"] } },
      },
    ],
  },
}

const workloads: Readonly<Record<string, readonly string[]>> = {
  "apps/v1/deployments": ["spec", "template"],
  "apps/v1/replicasets": ["spec", "template"],
  "apps/v1/statefulsets": ["spec", "template"],
  "apps/v1/daemonsets": ["spec", "template"],
  "batch/v1/jobs": ["spec", "template"],
  "batch/v1/cronjobs": ["spec", "jobTemplate", "spec", "template"],
  "v1/replicationcontrollers": ["spec", "template"],
  "v1/podtemplates": ["template"],
}

export function workloadCases(): Scenario[] {
  return [
    ...Object.entries(workloads).map(([resource, path]) => {
      const kind = kindNamed(resource)
      const withSpec = (spec: JsonObject): JsonObject => withTemplate(kind.object(), path, spec)
      return {
        name: `${kind.title} has any template`,
        steps: [
          ...Object.entries(templates).map(([name, spec]) =>
            post(`${kind.path}?dryRun=All`, withSpec(spec), { label: `POST a template with ${name}` }),
          ),
          post(kind.path, kind.object()),
          ...Object.entries(templates).map(([name, spec]) =>
            put(`${kind.objectPath}?dryRun=All`, withSpec(spec), { label: `PUT a template with ${name}` }),
          ),
        ],
      }
    }),
    { name: "pods are given defaults and bounds by a LimitRange", steps: limitRange() },
    { name: "objects are counted by a ResourceQuota", steps: quota() },
    { name: "priority classes are looked up", steps: priorities() },
    { name: "annotations that were fields are integers", steps: annotatedIntegers(), anyOrder: true },
  ]
}

/** What older versions of apps had as fields. */
function annotatedIntegers(): RequestStep[] {
  const texts = ["", "0", "7", "+7", "007", "-7", "x", "1.5", " 1", "9223372036854775807", "9223372036854775808"]
  const kinds = [
    ["apps/v1/deployments", "deprecated.deployment.rollback.to"],
    ["apps/v1/daemonsets", "deprecated.daemonset.template.generation"],
  ] as const
  return kinds.flatMap(([resource, annotation]) => {
    const kind = kindNamed(resource)
    const plain = kind.object()
    const typed = (object: JsonObject): JsonObject => ({
      apiVersion: "apps/v1",
      kind: kind.facts.kind,
      ...object,
    })
    const annotated = (text: string): JsonObject => ({
      ...plain,
      metadata: { ...(plain["metadata"] as JsonObject), annotations: { [annotation]: text } },
    })
    return [
      ...texts.map((text) => post(`${kind.path}?dryRun=All`, annotated(text), { label: `POST ${annotation}=${text}` })),
      post(kind.path, plain),
      ...texts.slice(1).flatMap((text) => {
        const body = annotated(text)
        return [
          put(`${kind.objectPath}?dryRun=All`, body, { label: `PUT ${annotation}=${text}` }),
          ...[mergePatch, strategicPatch].map((type) =>
            patch(
              `${kind.objectPath}?dryRun=All`,
              type,
              { metadata: body["metadata"] as JsonObject },
              { label: `PATCH ${type} ${annotation}=${text}` },
            ),
          ),
          patch(`${kind.objectPath}?dryRun=All&fieldManager=m&force=true`, applyPatch, typed(body), {
            label: `APPLY ${annotation}=${text}`,
          }),
        ]
      }),
    ]
  })
}

function withTemplate(object: JsonObject, [step, ...rest]: readonly string[], spec: JsonObject): JsonObject {
  if (step === undefined) {
    const before = (object["spec"] ?? {}) as JsonObject
    const policy = before["restartPolicy"] === undefined ? {} : { restartPolicy: before["restartPolicy"] }
    return { ...object, spec: { ...policy, ...spec } }
  }
  return { ...object, [step]: withTemplate((object[step] ?? {}) as JsonObject, rest, spec) }
}

const pods = "/api/v1/namespaces/@{ns}/pods"
const pod = (name: string, resources: Json, more: object = {}): RequestStep =>
  post(pods, { metadata: { name }, spec: { containers: [{ ...container, resources }], ...more } })

function limitRange(): RequestStep[] {
  return [
    post("/api/v1/namespaces/@{ns}/limitranges", {
      metadata: { name: "l" },
      spec: {
        limits: [
          {
            type: "Container",
            min: { cpu: "100m" },
            max: { cpu: "2" },
            default: { cpu: "1" },
            defaultRequest: { cpu: "200m" },
          },
          { type: "Pod", max: { memory: "1Gi" } },
          { type: "PersistentVolumeClaim", max: { storage: "1Gi" } },
        ],
      },
    }),
    pod("plain", {}),
    pod("small", { requests: { cpu: "1m" } }),
    pod("large", { limits: { cpu: "3" } }),
    pod("memory", { limits: { memory: "2Gi" } }),
    pod("fits", { limits: { cpu: "1", memory: "512Mi" } }),
    post("/api/v1/namespaces/@{ns}/persistentvolumeclaims", {
      metadata: { name: "c" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } } },
    }),
  ]
}

function quota(): RequestStep[] {
  return [
    post("/api/v1/namespaces/@{ns}/resourcequotas", {
      metadata: { name: "q" },
      spec: { hard: { pods: "1", "requests.cpu": "1", "count/configmaps": "0", services: "0" } },
    }),
    put("/api/v1/namespaces/@{ns}/resourcequotas/q/status", {
      metadata: { name: "q" },
      spec: { hard: { pods: "1" } },
      status: {
        hard: { pods: "1", "requests.cpu": "1", "count/configmaps": "0", services: "0" },
        used: { pods: "0", "requests.cpu": "0", "count/configmaps": "0", services: "0" },
      },
    }),
    pod("without", {}),
    pod("much", { requests: { cpu: "2" } }),
    pod("fits", { requests: { cpu: "500m" } }),
    pod("second", { requests: { cpu: "100m" } }),
    post("/api/v1/namespaces/@{ns}/configmaps", { metadata: { name: "c" } }),
    post("/api/v1/namespaces/@{ns}/services", { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } }),
  ]
}

function priorities(): RequestStep[] {
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
  return [
    post(classes, { metadata: { name: "p@{id}" }, value: 7, preemptionPolicy: "Never" }),
    pod("with", {}, { priorityClassName: "p@{id}" }),
    pod("absent", {}, { priorityClassName: "absent" }),
    pod("given", {}, { priority: 5 }),
    pod("both", {}, { priorityClassName: "p@{id}", priority: 5 }),
    pod("system", {}, { priorityClassName: "system-cluster-critical" }),
    post(classes, { metadata: { name: "system-x" }, value: 7 }),
    post(classes, { metadata: { name: "big@{id}" }, value: 2_000_000_000 }),
    put(`${classes}/p@{id}`, { metadata: { name: "p@{id}" }, value: 8 }),
  ]
}
