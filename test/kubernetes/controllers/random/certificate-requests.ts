// CertificateSigningRequests: who asks for what, and what users and other signers say of it.

import { pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { certificateFor, request, requestOf, saidOf } from "../scenarios/certificate-steps.ts"
import { type Family, inBursts, maybe, refusable, some } from "./family.ts"

const names = ["a", "b", "c"]

export const certificateRequests: Family = (random) => {
  const steps: (() => Step)[] = [
    () => randomRequest(random),
    () => randomRequest(random),
    () => decided(random),
    () => decided(random),
    () => decided(random),
    () => ({
      patch: where(random),
      with: { status: { certificate } },
      subresource: "status",
    }),
    () => ({ patch: where(random), with: { status: { conditions: [saidOf("Failed")] } }, subresource: "status" }),
    () => ({ patch: where(random), with: { metadata: { labels: { touched: String(random(9)) } } } }),
    () => ({ delete: where(random) }),
  ]
  const all = [randomRequest(random), randomRequest(random), ...some(random, 5, 12, () => pick(random, steps)())]
  return { steps: inBursts(random, all.map(refusable)) }
}

const where = (random: Random): [string, string] => ["certificatesigningrequests", `NAMESPACE-${pick(random, names)}`]

const subjects = await Promise.all(
  [
    "CN=jane",
    "CN=jane, O=team",
    "CN=system:node:n, O=system:nodes",
    "CN=system:node:n, O=system:nodes, O=team",
    "CN=node, O=system:nodes",
    "O=system:nodes",
  ].map((subject) => requestOf(subject)),
)
const ofServers = await Promise.all(
  ["CN=system:node:n, O=system:nodes", "CN=jane, O=system:nodes", "CN=jane"].map((subject) =>
    requestOf(subject, ["n.example.com"]),
  ),
)
/** One that is over would have its request deleted, by upstream within an hour. */
const certificate = await certificateFor(86_400_000)

const signers = [
  "kubernetes.io/kube-apiserver-client",
  "kubernetes.io/kube-apiserver-client-kubelet",
  "kubernetes.io/kube-apiserver-client-kubelet",
  "kubernetes.io/kubelet-serving",
  "kubernetes.io/legacy-unknown",
  "example.com/other",
]
const usages = [
  ["client auth"],
  ["digital signature", "client auth"],
  ["digital signature", "key encipherment", "client auth"],
  ["digital signature", "server auth"],
  ["digital signature", "key encipherment", "server auth"],
  ["client auth", "server auth"],
]

const randomRequest = (random: Random): Step =>
  request(
    pick(random, [...subjects, ...ofServers]),
    {
      signerName: pick(random, signers),
      usages: pick(random, usages),
      ...maybe(random, 0.3, { expirationSeconds: pick(random, [600, 3600, 100_000_000]) }),
    },
    `NAMESPACE-${pick(random, names)}`,
  )

function decided(random: Random): Step {
  const conditions = pick(random, [
    ["Approved"],
    ["Approved"],
    ["Denied"],
    ["Approved", "Denied"],
    ["Failed"],
    ["Other"],
  ])
  return { patch: where(random), with: { status: { conditions: conditions.map(saidOf) } }, subresource: "approval" }
}
