// Writes that say more, less or other than a write usually does.

import type { Json } from "../../../../apimachinery/object.ts"
import { kindNamed } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const maps = `${core}/configmaps`

export function oddWriteCases(): Scenario[] {
  return [
    { name: "a prefix that no name is made of is a prefix", steps: prefixes() },
    { name: "the status of a definition is written by others", steps: definitionStatuses() },
    { name: "an owner is named twice", steps: owners() },
    { name: "jobs are deleted with an empty body", steps: jobDeletions() },
    { name: "the end of an object is written into it", steps: graces() },
    { name: "ephemeral containers in a template", steps: debugged() },
    { name: "what may not change is given as nothing", steps: nothings() },
    { name: "a dry run that creates names a revision", steps: dryRevisions() },
    { name: "a pod that has a node is nominated for none", steps: nominations() },
    { name: "one thing is annotated by two names", steps: annotatedTwice() },
    { name: "a status makes what is not there", steps: statusesOfNothing() },
  ]
}

function prefixes(): RequestStep[] {
  return ["Bad/name", "bad_", "ok-", "x".repeat(300)].flatMap((generateName) => [
    post(`${maps}?dryRun=All`, { metadata: { name: "a", generateName } }, { label: `a name and ${generateName}` }),
    post(`${maps}?dryRun=All`, { metadata: { name: "kube-root-ca.crt", generateName } }),
    put(`${maps}/a?dryRun=All`, { metadata: { name: "a", generateName } }),
    patch(`${maps}/a?fieldManager=m&dryRun=All`, applyPatch, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", generateName },
    }),
  ])
}

function definitionStatuses(): RequestStep[] {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  const group = "w@{id}.example.com"
  const name = `things.${group}`
  const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" }
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }
  const status = (body: Body): RequestStep =>
    patch(`${definitions}/${name}/status?dryRun=All`, mergePatch, { status: body }, { label: JSON.stringify(body) })
  const applied = (body: Body): RequestStep =>
    patch(
      `${definitions}/${name}/status?dryRun=All&fieldManager=m&force=true`,
      applyPatch,
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name }, status: body },
      { label: `applied ${JSON.stringify(body)}` },
    )
  const statuses: Body[] = [
    { acceptedNames: { ...names, shortNames: ["Bad Name"] } },
    { acceptedNames: { ...names, categories: ["Bad Name"] } },
    { acceptedNames: { plural: "Things", kind: "Thing" } },
  ]
  return [
    post(definitions, {
      metadata: { name },
      spec: { group, scope: "Namespaced", names, versions: [version] },
    }),
    ...statuses.flatMap((body) => [status(body), applied(body)]),
    remove(`${definitions}/${name}`),
  ]
}

function owners(): RequestStep[] {
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "owner-uid" }
  const twice = [owner, { ...owner }]
  const other = [owner, { ...owner, name: "p" }]
  return [
    ...[`${maps}`, "/api/v1/namespaces", `${core}/secrets`].flatMap((path) => [
      post(`${path}?dryRun=All`, { metadata: { name: "m@{id}", ownerReferences: twice } }),
      post(path, { metadata: { name: "m@{id}" } }),
      put(`${path}/m@{id}?dryRun=All`, { metadata: { name: "m@{id}", ownerReferences: twice } }),
      put(`${path}/none@{id}?dryRun=All`, { metadata: { name: "none@{id}", ownerReferences: twice } }),
      patch(`${path}/m@{id}?dryRun=All`, mergePatch, { metadata: { ownerReferences: twice } }),
      patch(`${path}/m@{id}?dryRun=All`, mergePatch, { metadata: { ownerReferences: other } }),
    ]),
    patch(`${maps}/m@{id}?dryRun=All&fieldManager=m`, applyPatch, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "m@{id}", ownerReferences: twice },
    }),
    remove("/api/v1/namespaces/m@{id}"),
  ]
}

function jobDeletions(): RequestStep[] {
  const jobs = "/apis/batch/v1/namespaces/@{ns}/jobs"
  const object = kindNamed("batch/v1/jobs").object()
  const bodies: (Json | undefined)[] = [
    undefined,
    {},
    { kind: "DeleteOptions", apiVersion: "v1" },
    { gracePeriodSeconds: 1 },
    { orphanDependents: false },
    { propagationPolicy: "Background" },
  ]
  return bodies.flatMap((body) => {
    const label = JSON.stringify(body) ?? "nothing"
    return [
      post(jobs, object, { label: `POST before ${label}` }),
      remove(`${jobs}?dryRun=All`, body, { label: `DELETE all, ${label}` }),
      remove(`${jobs}/minimal?dryRun=All`, body, { label: `DELETE one, ${label}` }),
      remove(`${jobs}/minimal`, { propagationPolicy: "Background" }, { label: `DELETE after ${label}` }),
    ]
  })
}

function graces(): RequestStep[] {
  const fields: Body[] = [{ deletionGracePeriodSeconds: 5 }, { deletionTimestamp: "2024-01-02T03:04:05Z" }]
  const attachments = kindNamed("storage.k8s.io/v1/volumeattachments")
  return [
    post(maps, { metadata: { name: "a" } }),
    post(attachments.path, attachments.object()),
    ...fields.flatMap((field) => [
      post(`${maps}?dryRun=All`, { metadata: { name: "b", ...field } }),
      put(`${maps}/a?dryRun=All`, { metadata: { name: "a", ...field } }),
      patch(`${maps}/a?dryRun=All`, mergePatch, { metadata: field }),
      patch(`${maps}/a?dryRun=All&fieldManager=m`, applyPatch, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", ...field },
      }),
      put(`${attachments.objectPath}?dryRun=All`, withMetadata(attachments.object(), field)),
      put(`${attachments.objectPath}/status?dryRun=All`, withMetadata(attachments.object(), field)),
    ]),
  ]
}

function withMetadata(object: Body, more: Body): Body {
  return { ...object, metadata: { ...(object["metadata"] as Body), ...more } }
}

function debugged(): RequestStep[] {
  const main = { name: "main", image: "busybox" }
  const lists: Body[][] = [
    [{ name: "debug", image: "busybox" }],
    [{ name: "debug", image: " busybox" }],
    [{ name: "main", image: "" }],
    [{ name: "debug", image: "busybox", ports: [{ containerPort: 80 }] }],
    [],
  ]
  return lists.flatMap((ephemeralContainers) => [
    post(
      "/apis/apps/v1/namespaces/@{ns}/deployments?dryRun=All",
      {
        metadata: { name: "a" },
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [main], ephemeralContainers } },
        },
      },
      { label: `of a deployment, ${JSON.stringify(ephemeralContainers)}` },
    ),
    post(
      `${core}/pods?dryRun=All`,
      { metadata: { name: "a" }, spec: { containers: [main], ephemeralContainers } },
      { label: `of a pod, ${JSON.stringify(ephemeralContainers)}` },
    ),
  ])
}

function nothings(): RequestStep[] {
  return ["configmaps", "secrets"].flatMap((resource) => {
    const path = `${core}/${resource}`
    const object = (more: Body): Body => ({ metadata: { name: "fixed" }, ...more })
    const changes: Body[] = [{ data: {} }, { data: null }, { data: { a: "" } }, {}]
    if (resource === "configmaps") changes.push({ binaryData: {} }, { data: {}, binaryData: {} })
    return [
      post(path, object({ immutable: true })),
      ...changes.map((change) =>
        put(`${path}/fixed?dryRun=All`, object({ immutable: true, ...change }), {
          label: `PUT ${resource} ${JSON.stringify(change)}`,
        }),
      ),
      patch(`${path}/fixed?dryRun=All`, mergePatch, { data: {} }),
      patch(`${path}/fixed?dryRun=All`, strategicPatch, { data: {} }),
    ]
  })
}

function dryRevisions(): RequestStep[] {
  const leases = "/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases"
  return [`${leases}`, `${core}/services`, `${core}/endpoints`].flatMap((path) => [
    put(`${path}/absent?dryRun=All`, { metadata: { name: "absent", resourceVersion: "5", uid: "u" } }),
    put(`${path}/absent?dryRun=All`, { metadata: { name: "absent", resourceVersion: "5" } }, { label: `PUT ${path}` }),
    put(`${path}/absent`, { metadata: { name: "absent", resourceVersion: "5" } }, { label: `PUT ${path} in earnest` }),
    post(`${path}?dryRun=All`, { metadata: { name: "absent", resourceVersion: "5" } }),
    post(path, { metadata: { name: "absent", resourceVersion: "5" } }),
  ])
}

function nominations(): RequestStep[] {
  const pods = `${core}/pods`
  const nominate = (name: Json): RequestStep =>
    patch(`${pods}/a/status`, strategicPatch, { status: { nominatedNodeName: name } })
  return [
    post(pods, { metadata: { name: "a" }, spec: { containers: [{ name: "main", image: "busybox" }] } }),
    nominate("Bad Name"),
    nominate("node-1"),
    nominate("node-2"),
    post(`${pods}/a/binding`, { metadata: { name: "a" }, target: { kind: "Node", name: "node-1" } }),
    nominate("node-3"),
    nominate("Bad Name"),
    nominate(null),
    remove(`${pods}/a`, { gracePeriodSeconds: 0 }),
  ]
}

function annotatedTwice(): RequestStep[] {
  const mode = "service.kubernetes.io/topology-mode"
  const hints = "service.kubernetes.io/topology-aware-hints"
  const annotated = (annotations: Body): RequestStep =>
    patch(`${core}/services/a`, mergePatch, { metadata: { annotations } })
  return [
    post(`${core}/services`, { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } }),
    annotated({ [mode]: "auto" }),
    annotated({ [hints]: "auto" }),
    annotated({ [hints]: "disabled" }),
    annotated({ [mode]: null, [hints]: "disabled" }),
    patch(`${core}/services/a`, mergePatch, {
      metadata: { annotations: { [mode]: "auto" } },
      spec: { ports: [{ port: 0 }] },
    }),
  ]
}

/** Of kinds that an update makes, the status is one, too. */
function statusesOfNothing(): RequestStep[] {
  const status = { loadBalancer: { ingress: [{ ip: "10.1.2.3" }] } }
  const service = (name: string): Body => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ port: 80 }] },
    status,
  })
  const volume = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "nope-@{id}" }, status: {} }
  return [
    patch(`${core}/services/a/status?dryRun=All&fieldManager=x`, applyPatch, service("a")),
    patch(`${core}/services/a/status?fieldManager=x`, applyPatch, service("a")),
    get(`${core}/services/a`),
    put(`${core}/services/b/status`, service("b")),
    get(`${core}/services/b`),
    // With the warnings of a create.
    put(`${core}/services/d/status?dryRun=All`, {
      metadata: { name: "d" },
      spec: { externalName: "d", ports: [{ port: 80 }] },
    }),
    put(`${core}/services/b/status`, { metadata: { name: "b" }, spec: { externalName: "d", ports: [{ port: 80 }] } }),
    patch(`${core}/services/c/status`, mergePatch, { status }),
    patch(`/api/v1/persistentvolumes/nope-@{id}/status?fieldManager=x`, applyPatch, volume),
    ...["a", "b"].map((name) => remove(`${core}/services/${name}`)),
  ]
}
