// What kubelets may read: what their pods use. They are users of the group system:nodes.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario, type User } from "../scenario.ts"
import { container, core, known, node as as, podOn, reviews } from "./node-steps.ts"

const nodes = "/api/v1/nodes"
const other: User = { name: "system:node:o@{id}", groups: ["system:nodes", "system:authenticated"] }

export function nodeReadCases(): Scenario[] {
  return [
    { name: "a node reads what its pods use", steps: reads() },
    { name: "a node reads the volumes of its pods", steps: volumes() },
    { name: "a node reads what concerns it alone", steps: own() },
    { name: "users are nodes by name and group", steps: identities() },
  ]
}

function reads(): RequestStep[] {
  const objects = ["env", "from", "volume", "projected", "init", "pull", "unused"]
  const named = (kind: string, name: string): Json => ({ [`${kind}Ref`]: { name } })
  const spec = {
    initContainers: [container({ envFrom: [named("secret", "init"), named("configMap", "init")] })].map((one) => ({
      ...(one as object),
      name: "init",
    })),
    containers: [
      container({
        envFrom: [named("secret", "from"), named("configMap", "from")],
        env: [
          { name: "A", valueFrom: { secretKeyRef: { name: "env", key: "a" } } },
          { name: "B", valueFrom: { configMapKeyRef: { name: "env", key: "a" } } },
        ],
      }),
    ],
    imagePullSecrets: [{ name: "pull" }],
    volumes: [
      { name: "a", secret: { secretName: "volume" } },
      { name: "b", configMap: { name: "volume" } },
      { name: "c", projected: { sources: [{ secret: { name: "projected" } }, { configMap: { name: "projected" } }] } },
    ],
  }
  const attempts = (resource: string, name: string): RequestStep[] => {
    const path = `${core}/${resource}`
    return [
      get(`${path}/${name}`, { as }),
      get(`${path}?fieldSelector=metadata.name%3D${name}`, { as }),
      get(`${path}/${name}`, { as: other }),
      put(`${path}/${name}`, { metadata: { name } }, { as }),
      remove(`${path}/${name}`, undefined, { as }),
    ]
  }
  return [
    ...["secrets", "configmaps"].flatMap((resource) =>
      objects.map((name) => post(`${core}/${resource}`, { metadata: { name } })),
    ),
    podOn("n@{id}", "a", spec),
    known(`${core}/secrets/env`),
    ...["secrets", "configmaps"].flatMap((resource) => objects.flatMap((name) => attempts(resource, name))),
    get(`${core}/secrets`, { as }),
    get("/api/v1/secrets?fieldSelector=metadata.name%3Denv", { as }),
    get(`${core}/secrets/env/status`, { as }),
    get(`${core}/secrets/absent`, { as }),
    get(`${core}/serviceaccounts/default`, { as }),
    get(`${core}/serviceaccounts/other`, { as }),
    get(`${core}/serviceaccounts`, { as }),
    get(`${core}/endpoints/a`, { as }),
    get(`${core}/services`, { as }),
    get(`${core}/resourcequotas`, { as }),
    get("/healthz", { as }),
    get("/metrics", { as }),
    post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: "@{ns}" } }, { as }),
    ...["env", "unused"].flatMap((name) =>
      ["get", "list", "update"].map((verb) =>
        post(
          `${reviews}/selfsubjectaccessreviews`,
          { spec: { resourceAttributes: { namespace: "@{ns}", verb, resource: "secrets", name } } },
          { as },
        ),
      ),
    ),
  ]
}

function volumes(): RequestStep[] {
  const claim = (name: string, volumeName: string): RequestStep =>
    post(`${core}/persistentvolumeclaims`, {
      metadata: { name },
      spec: { volumeName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    })
  const volume = (name: string, claimed: string): RequestStep =>
    post("/api/v1/persistentvolumes", {
      metadata: { name },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        claimRef: { namespace: "@{ns}", name: claimed },
        csi: {
          driver: "d@{id}",
          volumeHandle: "h",
          nodeStageSecretRef: { namespace: "@{ns}", name: `${claimed}-stage` },
          controllerPublishSecretRef: { namespace: "@{ns}", name: `${claimed}-publish` },
        },
      },
    })
  const secrets = ["used-stage", "used-publish", "unused-stage"]
  const status = (path: string, body: Json, label: string): RequestStep =>
    patch(`${core}/persistentvolumeclaims/${path}/status`, mergePatch, body, { as, label })
  return [
    ...secrets.map((name) => post(`${core}/secrets`, { metadata: { name } })),
    claim("used", "u@{id}"),
    claim("unused", "v@{id}"),
    volume("u@{id}", "used"),
    volume("v@{id}", "unused"),
    podOn("n@{id}", "a", {
      volumes: [
        { name: "a", persistentVolumeClaim: { claimName: "used" } },
        {
          name: "b",
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
            },
          },
        },
      ],
    }),
    claim("a-b", ""),
    known(`${core}/secrets/used-stage`),
    ...secrets.map((name) => get(`${core}/secrets/${name}`, { as })),
    ...["used", "unused", "a-b", "absent"].map((name) => get(`${core}/persistentvolumeclaims/${name}`, { as })),
    ...["u@{id}", "v@{id}", "w@{id}"].map((name) => get(`/api/v1/persistentvolumes/${name}`, { as })),
    get(`${core}/persistentvolumeclaims`, { as }),
    get("/api/v1/persistentvolumes", { as }),
    get(`${core}/persistentvolumeclaims/used/status`, { as }),
    status("used", { status: { capacity: { storage: "2Gi" } } }, "PATCH capacity"),
    status("used", { status: { capacity: { storage: "2Gi" } }, metadata: { labels: {} } }, "PATCH capacity alone"),
    status("unused", { status: { capacity: { storage: "2Gi" } } }, "PATCH another's capacity"),
    patch(`${core}/persistentvolumeclaims/used`, mergePatch, { metadata: { labels: { a: "b" } } }, { as }),
  ]
}

function own(): RequestStep[] {
  const attachment = (name: string, nodeName: string): RequestStep =>
    post("/apis/storage.k8s.io/v1/volumeattachments", {
      metadata: { name },
      spec: { attacher: "a", nodeName, source: { persistentVolumeName: "p" } },
    })
  const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
  const csiNodes = "/apis/storage.k8s.io/v1/csinodes"
  const slices = "/apis/resource.k8s.io/v1/resourceslices"
  const slice = (name: string, nodeName: string): Json => ({
    metadata: { name },
    spec: { nodeName, driver: "d.example.com", pool: { name: "p", generation: 1, resourceSliceCount: 1 }, devices: [] },
  })
  const lifecycle = (path: string, body: (name: string) => Json): RequestStep[] => [
    ...["n@{id}", "o@{id}"].flatMap((name) => [
      post(path, body(name), { as, label: `POST ${path} ${name}` }),
      get(`${path}/${name}`, { as }),
      patch(`${path}/${name}`, mergePatch, { metadata: { labels: { a: "b" } } }, { as }),
      remove(`${path}/${name}`, undefined, { as }),
    ]),
    get(path, { as }),
    remove(path, undefined, { as }),
  ]
  return [
    attachment("a@{id}", "n@{id}"),
    attachment("b@{id}", "o@{id}"),
    known("/apis/storage.k8s.io/v1/volumeattachments/a@{id}"),
    get("/apis/storage.k8s.io/v1/volumeattachments/b@{id}", { as }),
    get("/apis/storage.k8s.io/v1/volumeattachments", { as }),
    ...lifecycle(leases, (name) => ({ metadata: { name }, spec: { holderIdentity: name } })),
    post(`/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases`, { metadata: { name: "n@{id}" } }, { as }),
    ...lifecycle(csiNodes, (name) => ({ metadata: { name }, spec: { drivers: [] } })),
    post(slices, slice("a@{id}", "n@{id}"), { as }),
    post(slices, slice("b@{id}", "o@{id}"), { as }),
    post(slices, slice("b@{id}", "o@{id}")),
    known(`${slices}/a@{id}`),
    get(`${slices}/b@{id}`, { as }),
    get(slices, { as }),
    get(`${slices}?fieldSelector=spec.nodeName%3Dn@{id}`, { as }),
    get(`${slices}?fieldSelector=spec.nodeName%3Do@{id}`, { as }),
    get(`${slices}?fieldSelector=spec.nodeName!%3Dn@{id}`, { as }),
    remove(`${slices}/b@{id}`, undefined, { as }),
    remove(`${slices}?fieldSelector=spec.nodeName%3Dn@{id}`, undefined, { as }),
    get(`${core}/pods`, { as }),
    get(`${core}/pods?fieldSelector=spec.nodeName%3Dn@{id}`, { as }),
    get(`/api/v1/pods?fieldSelector=spec.nodeName%3Dn@{id}`, { as }),
    get(`/api/v1/pods?fieldSelector=spec.nodeName%3Dn@{id}%5C,x`, { as }),
    get(`/api/v1/pods?fieldSelector=spec.nodeName%3D%3Dn@{id},metadata.name!%3Dx`, { as }),
    get(`/api/v1/watch/pods?fieldSelector=spec.nodeName%3Dn@{id}`, { as }),
    ...[
      { rawSelector: "spec.nodeName=n@{id}" },
      { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n@{id}"] }] },
    ].map((fieldSelector) =>
      post(
        `${reviews}/selfsubjectaccessreviews`,
        { spec: { resourceAttributes: { verb: "list", resource: "pods", fieldSelector } } },
        { as },
      ),
    ),
  ]
}

function identities(): RequestStep[] {
  const users: User[] = [
    { name: "system:node:n@{id}" },
    { name: "system:node:", groups: ["system:nodes"] },
    { name: "n@{id}", groups: ["system:nodes"] },
    { name: "system:node:n@{id}", groups: ["system:nodes", "system:masters"] },
  ]
  return users.flatMap((user) => [
    get(`${nodes}/n@{id}`, { as: user, label: `GET node as ${JSON.stringify(user)}` }),
    post(
      `${nodes}?dryRun=All`,
      { metadata: { name: "p@{id}" } },
      { as: user, label: `POST node as ${JSON.stringify(user)}` },
    ),
    // Upstream lists rules of several bindings in any order.
    ...(user.groups?.includes("system:masters") === true
      ? []
      : [
          post(
            `${reviews}/selfsubjectrulesreviews`,
            { spec: { namespace: "@{ns}" } },
            { as: user, label: `rules of ${JSON.stringify(user)}` },
          ),
        ]),
  ])
}
