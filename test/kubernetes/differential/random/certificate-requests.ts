// Random requests for certificates: who may ask for, approve and sign them, and what becomes of their conditions and status. Signers that
// kube-controller-manager serves are not approved, and none of it runs.

import { generateKeyPairSync, sign } from "node:crypto"
import { der } from "../../../../apimachinery/der.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { printPEM } from "../../../../apimachinery/pem.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
  type User,
  withQuery,
} from "../scenario.ts"
import { titled } from "./titled.ts"

const rbac = "/apis/rbac.authorization.k8s.io/v1"
const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
const length = 36
const names = ["a@{id}", "b@{id}"]
const some: User = { name: "u@{id}", groups: ["g@{id}", "system:authenticated"] }
const node: User = { name: "system:node:n@{id}", groups: ["system:nodes", "system:authenticated"] }
const signers = [
  "example.com/a",
  "example.com/a",
  "example.com/b",
  "example.org/a",
  "kubernetes.io/kube-apiserver-client",
  "kubernetes.io/kube-apiserver-client-kubelet",
  "kubernetes.io/kubelet-serving",
  "kubernetes.io/legacy-unknown",
  "kubernetes.io/other",
]

export function randomCertificateRequestScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...granted(random),
    ...names.map((name) => asks(random, name)),
    ...Array.from({ length }, () => pick(random, choices)(random)),
    ...names.map((name) => get(`${requests}/${name}`)),
    ...names.map((name) => remove(`${requests}/${name}`)),
  ]
  return {
    name: `requests for certificates at random, seed ${seed}`,
    steps: titled(steps),
    anyOrder: true,
    byChance: true,
  }
}

const choices: readonly ((random: Random) => RequestStep)[] = [
  (random) => asks(random, pick(random, names)),
  (random) => asks(random, pick(random, names)),
  updates,
  updates,
  updates,
  patches,
  patches,
  patches,
  applies,
  (random) =>
    get(
      `${requests}?labelSelector=own%3D@{id}&fieldSelector=spec.signerName%3D${encodeURIComponent(pick(random, signers))}`,
    ),
  (random) => get(`${requests}/${pick(random, names)}${pick(random, ["", "/status", "/approval"])}`),
  (random) =>
    chance(random, 0.3) ? remove(`${requests}/${pick(random, names)}`) : get(`${requests}/${pick(random, names)}`),
]

/** The last rule shows that those before are known to the server. */
function granted(random: Random): RequestStep[] {
  const rule = (resources: string[], verbs: string[], resourceNames?: string[]): JsonObject => ({
    apiGroups: ["certificates.k8s.io"],
    resources,
    verbs,
    ...(resourceNames === undefined ? {} : { resourceNames }),
  })
  const all = ["certificatesigningrequests", "certificatesigningrequests/approval", "certificatesigningrequests/status"]
  const verbs = [["approve"], ["sign"], ["approve", "sign"], ["attest"], ["*"]]
  const rules = [
    rule(all, ["*"]),
    ...Array.from({ length: 1 + random(2) }, () =>
      rule(["signers"], pick(random, verbs), [
        pick(random, [
          "example.com/a",
          "example.com/*",
          "example.org/a",
          "kubernetes.io/*",
          "kubernetes.io/legacy-unknown",
          "*",
        ]),
      ]),
    ),
    { nonResourceURLs: ["/marker"], verbs: ["get"] },
  ]
  const subjects = [some, node].map(({ name }) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name }))
  return [
    post(`${rbac}/clusterroles`, { metadata: { name: "c@{id}" }, rules }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name: "c@{id}" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "c@{id}" },
      subjects,
    }),
    post(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      { spec: { nonResourceAttributes: { path: "/marker", verb: "get" } } },
      { as: some, untilText: '"allowed":true' },
    ),
  ]
}

/** Mostly another than the administrator. */
function by(random: Random): { as?: User } {
  return pick<{ as?: User }>(random, [{}, {}, { as: some }, { as: some }, { as: node }])
}

const pair = generateKeyPairSync("ed25519")
const named = (oid: string, value: string): Buffer => der.set(der.sequence(der.oid(oid), der.utf8(value)))
const [commonName, organization] = ["2.5.4.3", "2.5.4.10"] as const

function requestOf(subject: Buffer): string {
  const key = pair.publicKey.export({ type: "spki", format: "der" })
  const info = der.sequence(der.integer(Buffer.from([0])), subject, key, der.explicit(0, Buffer.alloc(0)))
  const signature = sign(null, info, pair.privateKey)
  const request = der.sequence(info, der.sequence(der.oid("1.3.101.112")), der.bitString(signature))
  return Buffer.from(printPEM("CERTIFICATE REQUEST", request)).toString("base64")
}

const texts = [
  requestOf(der.sequence(named(commonName, "jane"))),
  requestOf(der.sequence(named(commonName, "jane"))),
  requestOf(der.sequence(named(organization, "system:masters"), named(commonName, "jane"))),
  requestOf(der.sequence(named(organization, "system:nodes"), named(commonName, "system:node:n"))),
  requestOf(der.sequence()),
]

function asks(random: Random, name: string): RequestStep {
  const spec: JsonObject = {
    request: pick(random, texts),
    signerName: pick(random, signers),
    usages: pick<Json>(random, [["client auth"], ["digital signature", "client auth"], ["server auth"], [], ["x"]]),
    ...(chance(random, 0.3) ? { expirationSeconds: pick<Json>(random, [599, 600, 3600, 0, -1, 2 ** 31, null]) } : {}),
    ...(chance(random, 0.2) ? { username: "other", uid: "u", groups: ["x"], extra: { a: ["b"] } } : {}),
  }
  const body = {
    metadata: { name, labels: { own: "@{id}" } },
    spec,
    ...(chance(random, 0.1) ? { status: { conditions: conditions(random) } } : {}),
  }
  return post(withQuery(requests, query(random)), body, by(random))
}

function query(random: Random): string {
  return pick(random, ["", "", "", "", "dryRun=All", "fieldValidation=Strict", "fieldManager=m"])
}

function conditions(random: Random): Json {
  return Array.from({ length: random(3) }, () => ({
    type: pick(random, ["Approved", "Approved", "Denied", "Failed", "Other", ""]),
    ...(chance(random, 0.9) ? { status: pick(random, ["True", "True", "True", "False", "Unknown", "x"]) } : {}),
    ...(chance(random, 0.6) ? { reason: pick(random, ["r", "s", ""]) } : {}),
    ...(chance(random, 0.3) ? { message: "m" } : {}),
    ...(chance(random, 0.2) ? { lastUpdateTime: pick<Json>(random, [null, "2024-01-02T03:04:05Z"]) } : {}),
    ...(chance(random, 0.2) ? { lastTransitionTime: pick<Json>(random, [null, "2024-01-02T03:04:05Z"]) } : {}),
  }))
}

const encoded = (text: string): string => Buffer.from(text).toString("base64")

function status(random: Random): JsonObject {
  return {
    ...(chance(random, 0.8) ? { conditions: conditions(random) } : {}),
    ...(chance(random, 0.3)
      ? {
          certificate: pick<Json>(random, [
            "",
            null,
            encoded("x"),
            encoded(printPEM("CERTIFICATE", Buffer.from("hello"))),
            encoded(printPEM("OTHER", Buffer.from("hello"))),
          ]),
        }
      : {}),
  }
}

function target(random: Random): string {
  const subresource = pick(random, ["/approval", "/approval", "/status", "/status", ""])
  return withQuery(`${requests}/${pick(random, names)}${subresource}`, query(random))
}

function updates(random: Random): RequestStep {
  const path = target(random)
  const [name = ""] = path.slice(requests.length + 1).split(/[/?]/)
  const body = {
    metadata: { name, labels: { own: "@{id}" } },
    spec: { request: pick(random, texts), signerName: pick(random, signers), usages: ["client auth"] },
    status: status(random),
  }
  return put(path, body, by(random))
}

function patches(random: Random): RequestStep {
  const path = target(random)
  if (chance(random, 0.25)) {
    const operations: Json[] = [
      { op: "add", path: "/status/conditions/-", value: (conditions(random) as Json[])[0] ?? {} },
      { op: "remove", path: "/status/conditions/0" },
      { op: "add", path: "/status/conditions", value: conditions(random) },
      { op: "replace", path: "/spec/signerName", value: pick(random, signers) },
    ]
    return patch(path, jsonPatch, [pick(random, operations)], by(random))
  }
  const body = chance(random, 0.85)
    ? { status: status(random) }
    : { spec: { signerName: pick(random, signers) }, metadata: { labels: { c: "d" } } }
  return patch(path, pick(random, [mergePatch, strategicPatch]), body, by(random))
}

function applies(random: Random): RequestStep {
  const path = withQuery(target(random), `fieldManager=${pick(random, ["one", "two"])}&force=${chance(random, 0.5)}`)
  const body = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", status: status(random) }
  return patch(path.replace("&fieldManager=m", "").replace("fieldManager=m&", ""), applyPatch, body, by(random))
}
