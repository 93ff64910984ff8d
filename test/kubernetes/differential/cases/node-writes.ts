// What kubelets may write: their own node, mirror pods, statuses of their pods, tokens and requests for certificates.

import type { Json } from "../../../../apimachinery/object.ts"
import { createClientRequest } from "../../../../gateway/testing/certificate-request.ts"
import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario, type User } from "../scenario.ts"
import { container, core, known, node as as, podOn } from "./node-steps.ts"

const nodes = "/api/v1/nodes"
const fast = { gracePeriodSeconds: 0 }
const requests = {
  own: await createClientRequest("CN=system:node:n, O=system:nodes"),
  others: await createClientRequest("CN=system:node:o, O=system:nodes"),
}

export function nodeWriteCases(): Scenario[] {
  return [
    { name: "a node writes its own Node", steps: ownNode() },
    { name: "a node makes mirror pods and reports on its pods", steps: pods() },
    { name: "a node requests tokens for its pods", steps: tokens() },
    { name: "a node asks for certificates of its own", steps: certificates() },
  ]
}

function ownNode(): RequestStep[] {
  const labelled = (labels: Json): Json => ({ metadata: { labels } })
  const labels: Json[] = [
    { a: "b" },
    { "example.com/a": "b" },
    { "kubernetes.io/hostname": "x", "topology.kubernetes.io/zone": "z" },
    { "node.kubernetes.io/a": "b", "a.kubelet.kubernetes.io/b": "c" },
    { "node-role.kubernetes.io/master": "" },
    { "a.node-restriction.kubernetes.io/b": "c", "k8s.io/d": "e" },
  ]
  return [
    get(`${nodes}/n@{id}`, { as }),
    post(nodes, { metadata: { name: "o@{id}" } }, { as }),
    post(nodes, { metadata: { name: "n@{id}", labels: { "node-role.kubernetes.io/a": "" } } }, { as }),
    post(nodes, { metadata: { name: "n@{id}" }, spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }, { as }),
    post(nodes, { metadata: { name: "o@{id}" } }),
    get(`${nodes}/n@{id}`, { as }),
    get(`${nodes}/o@{id}`, { as }),
    get(nodes, { as }),
    get(`${nodes}?fieldSelector=metadata.name%3Dn@{id}`, { as, label: "LIST itself" }),
    ...labels.map((one) =>
      patch(`${nodes}/n@{id}`, mergePatch, labelled(one), { as, label: `PATCH ${JSON.stringify(one)}` }),
    ),
    patch(`${nodes}/n@{id}`, mergePatch, { spec: { taints: [] } }, { as, label: "PATCH taints" }),
    patch(`${nodes}/n@{id}`, mergePatch, { spec: { unschedulable: true } }, { as, label: "PATCH unschedulable" }),
    patch(
      `${nodes}/n@{id}`,
      mergePatch,
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "a", uid: "u" }] } },
      { as, label: "PATCH owners" },
    ),
    patch(`${nodes}/n@{id}/status`, mergePatch, { status: { phase: "Running" } }, { as }),
    patch(`${nodes}/n@{id}/status`, mergePatch, labelled({ "k8s.io/a": "b" }), { as, label: "PATCH labels by status" }),
    patch(`${nodes}/o@{id}/status`, mergePatch, { status: { phase: "Running" } }, { as }),
    patch(`${nodes}/o@{id}`, mergePatch, labelled({ a: "b" }), { as }),
    remove(`${nodes}/n@{id}`, undefined, { as }),
  ]
}

function pods(): RequestStep[] {
  const mirror = { annotations: { "kubernetes.io/config.mirror": "x" } }
  const owner = { apiVersion: "v1", kind: "Node", name: "n@{id}", uid: "@{node.metadata.uid}", controller: true }
  const make = (label: string, more: object, spec: object = {}): RequestStep =>
    post(
      `${core}/pods?dryRun=All`,
      {
        metadata: { name: "m", ...mirror, ownerReferences: [owner], ...more },
        spec: { nodeName: "n@{id}", containers: [container()], ...spec },
      } as Json,
      { as, label: `POST pod ${label}` },
    )
  const evict = (name: string): RequestStep =>
    post(`${core}/pods/${name}/eviction?dryRun=All`, { metadata: { name } }, { as, label: `evict ${name}` })
  return [
    post(nodes, { metadata: { name: "n@{id}" } }, { save: "node" }),
    get(`${nodes}/n@{id}`, { as, untilCode: 200 }),
    podOn("n@{id}", "own"),
    podOn("o@{id}", "others"),
    known(`${core}/pods/own`),
    get(`${core}/pods/others`, { as }),
    get(`${core}/pods?fieldSelector=metadata.name%3Down`, { as }),
    get(`${core}/pods?fieldSelector=metadata.name%3Dothers`, { as }),
    get(`${core}/pods/own/log`, { as }),
    make("as it should be", {}),
    make("that is no mirror", { annotations: {} }),
    make("without owner", { ownerReferences: [] }),
    make("of two owners", { ownerReferences: [owner, { ...owner, controller: false, uid: "x" }] }),
    make("of another owner", { ownerReferences: [{ ...owner, name: "o@{id}" }] }),
    make("of another uid", { ownerReferences: [{ ...owner, uid: "x" }] }),
    make("of no controller", { ownerReferences: [{ ...owner, controller: false }] }),
    make("that blocks", { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
    make("elsewhere", {}, { nodeName: "o@{id}" }),
    make("of an account", {}, { serviceAccountName: "default" }),
    make("with a Secret", {}, { volumes: [{ name: "a", secret: { secretName: "a" } }] }),
    make("with a ConfigMap", {}, { volumes: [{ name: "a", configMap: { name: "a" } }] }),
    make("with a claim", {}, { volumes: [{ name: "a", persistentVolumeClaim: { claimName: "a" } }] }),
    make("with CSI", {}, { volumes: [{ name: "a", csi: { driver: "a" } }] }),
    make("with a directory", {}, { volumes: [{ name: "a", emptyDir: {} }] }),
    make(
      "with a token",
      {},
      { volumes: [{ name: "a", projected: { sources: [{ serviceAccountToken: { path: "a" } }] } }] },
    ),
    patch(`${core}/pods/own`, mergePatch, { metadata: { labels: { a: "b" } } }, { as }),
    patch(`${core}/pods/own/status`, mergePatch, { status: { phase: "Running" } }, { as }),
    patch(
      `${core}/pods/own/status`,
      mergePatch,
      { metadata: { labels: { a: "b" } } },
      { as, label: "PATCH labels by status" },
    ),
    patch(
      `${core}/pods/own/status`,
      mergePatch,
      { status: { resourceClaimStatuses: [{ name: "a", resourceClaimName: "b" }] } },
      { as, label: "PATCH claims" },
    ),
    patch(`${core}/pods/others/status`, mergePatch, { status: { phase: "Running" } }, { as }),
    patch(`${core}/pods/absent/status`, mergePatch, { status: { phase: "Running" } }, { as }),
    evict("own"),
    evict("others"),
    evict("absent"),
    remove(`${core}/pods/others`, fast, { as }),
    remove(`${core}/pods/absent`, fast, { as }),
    remove(`${core}/pods`, fast, { as }),
    remove(`${core}/pods/own`, fast, { as }),
  ]
}

function tokens(): RequestStep[] {
  const ask = (label: string, spec: object, account = "default"): RequestStep =>
    post(`${core}/serviceaccounts/${account}/token`, { spec } as Json, { as, label: `TokenRequest ${label}` })
  const bound = (name: string, uid: string): object => ({
    boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
  })
  const mine = bound("own", "@{own.metadata.uid}")
  const volume = (audience: string): Json => ({
    name: audience,
    projected: { sources: [{ serviceAccountToken: { path: "a", audience } }] },
  })
  return [
    {
      ...podOn("n@{id}", "own", { volumes: [volume("vault"), { name: "csi", csi: { driver: "d@{id}.example.com" } }] }),
      save: "own",
    },
    { ...podOn("o@{id}", "others"), save: "others" },
    known(`${core}/pods/own`),
    post(`${core}/serviceaccounts`, { metadata: { name: "unused" } }),
    ask("of its pod", mine),
    ask("for the audience of a volume", { ...mine, audiences: ["vault"] }),
    ask("of no pod", {}),
    ask("of a pod without uid", bound("own", "")),
    ask("of a pod with another uid", bound("own", "x")),
    ask("of another node's pod", bound("others", "@{others.metadata.uid}")),
    ask("of an absent pod", bound("absent", "x")),
    ask("for an unused account", mine, "unused"),
    ask("for two audiences", { ...mine, audiences: ["vault", "a"] }),
    ask("for an audience while the driver is missing", { ...mine, audiences: ["a"] }),
    post("/apis/storage.k8s.io/v1/csidrivers", {
      metadata: { name: "d@{id}.example.com" },
      spec: { tokenRequests: [{ audience: "driver" }] },
    }),
    { ...ask("for the audience of a driver", { ...mine, audiences: ["driver"] }), untilCode: 201 },
    ask("for another audience", { ...mine, audiences: ["a"] }),
    get(`${core}/serviceaccounts/default/token`, { as }),
  ]
}

function certificates(): RequestStep[] {
  const all = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
  const user: User = { name: "system:node:n", groups: ["system:nodes", "system:authenticated"] }
  const usages = ["digital signature", "client auth"]
  const ask = (name: string, text: string, signerName: string): RequestStep =>
    post(
      all,
      {
        metadata: { name: `${name}@{id}` },
        spec: { request: Buffer.from(text).toString("base64"), signerName, usages },
      },
      { as: user, label: `POST ${name} for ${signerName}` },
    )
  return [
    ...["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving", "example.com/a"].flatMap(
      (signer, at) => [
        ask(`own${at}`, requests.own.request, signer),
        ask(`others${at}`, requests.others.request, signer),
      ],
    ),
    get(`${all}/own0@{id}`, { as: user }),
    patch(`${all}/own0@{id}/approval`, mergePatch, {}, { as: user }),
  ]
}
