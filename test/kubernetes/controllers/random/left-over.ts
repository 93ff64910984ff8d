// What controllers find when they start, by chance: Leases of API servers, and tokens that nobody uses, which upstream looks at then, and
// after an hour or a day.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { tracked } from "../scenarios/left-over.ts"
import { container, settle } from "../scenarios/steps.ts"
import { type Family, held, maybe, refusable, some } from "./family.ts"

const long = "2020-01-01T00:00:00.000000Z"
const later = "2100-01-01T00:00:00.000000Z"
const leaseNames = Array.from({ length: 8 }, (_, index) => `NAMESPACE-${index}`)
const identity = "apiserver.kubernetes.io/identity"

/** Each is changed once at most: what is over goes at once with ours, and at the start with upstream. */
export const leases: Family = (random) => {
  const made = leaseNames.flatMap((name): Step[] => {
    const namespace = pick(random, ["kube-system", "kube-system", "kube-system", "NAMESPACE"])
    const isChanged = chance(random, 0.5)
    const metadata = { name, namespace, labels: identities(random), ...maybe(random, 0.15, held) }
    const create: Step = {
      create: {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata,
        spec: { holderIdentity: "somebody", ...(isChanged ? keptSpec : leaseSpec(random)) },
      },
    }
    return isChanged ? [create, { patch: ["leases", name, namespace], with: change(random) }] : [create]
  })
  return { before: [...made, settle].map(refusable), steps: [settle, settle, settle] }
}

const change = (random: Random): object =>
  pick<object>(random, [
    { spec: leaseSpec(random) },
    { spec: { renewTime: null } },
    { spec: { leaseDurationSeconds: null } },
    { spec: { renewTime: null }, metadata: held },
    { metadata: { labels: { [identity]: pick(random, ["kube-apiserver", "somebody", null]) } } },
  ])

const keptSpec = { renewTime: later, leaseDurationSeconds: 3600 }

const identities = (random: Random): object =>
  maybe(random, 0.9, { [identity]: pick(random, ["kube-apiserver", "kube-apiserver", "kube-apiserver", "somebody"]) })

const leaseSpec = (random: Random): object => ({
  ...maybe(random, 0.85, { renewTime: pick(random, [long, long, later]) }),
  ...maybe(random, 0.85, { leaseDurationSeconds: pick(random, [1, 3600, 2_147_483_647]) }),
})

const tokenNames = Array.from({ length: 8 }, (_, index) => `t${index}`)
const accounts = ["robot", "other", "default"]
const lastUsed = "kubernetes.io/legacy-token-last-used"
const invalidSince = "kubernetes.io/legacy-token-invalid-since"
const nameOf = "kubernetes.io/service-account.name"

export const unusedTokens: Family = (random) => {
  const changes: (() => Step)[] = [
    () => ({ patch: ["secrets", pick(random, tokenNames)], with: { metadata: { labels: dates(random) } } }),
    () => ({ patch: ["serviceaccounts", pick(random, accounts)], with: { secrets: references(random) } }),
    () => ({ delete: ["serviceaccounts", pick(random, accounts)] }),
    () => ({ delete: ["secrets", pick(random, tokenNames)] }),
    () => reader(random),
    () => reader(random),
  ]
  // References to what is deleted are taken away, which would be a matter of moments.
  const changed = some(random, 2, 6, () => pick(random, changes)()).flatMap((step) =>
    "delete" in step ? [step, settle] : [step],
  )
  const made = [
    tracked,
    ...["robot", "other"].map((name) => account(random, name)),
    { patch: ["serviceaccounts", "default"], with: { secrets: references(random) } } satisfies Step,
    ...tokenNames.map((name) => token(random, name)),
  ]
  const before = [...made, settle, ...changed, settle].map(refusable)
  return { before, steps: [settle, settle, settle] }
}

const references = (random: Random): object[] => tokenNames.filter(() => random(4) > 0).map((name) => ({ name }))

const account = (random: Random, name: string): Step => ({
  create: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name }, secrets: references(random) },
})

const token = (random: Random, name: string): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      annotations: { [nameOf]: pick(random, ["robot", ...accounts]) },
      labels: dates(random),
      ...maybe(random, 0.15, held),
    },
    type: pick(random, [...Array.from({ length: 8 }, () => "kubernetes.io/service-account-token"), "Opaque"]),
  },
})

const today = new Date().toISOString().slice(0, 10)

function dates(random: Random): object {
  const date = (): string =>
    pick(random, ["2021-01-01", "2021-01-01", "2022-02-30", "2021-1-1", "2100-01-01", "soon", today])
  return { ...maybe(random, 0.5, { [lastUsed]: date() }), ...maybe(random, 0.5, { [invalidSince]: date() }) }
}

/** It keeps what it mounts or reads; what it only says of the registry of its image, too. */
function reader(random: Random): Step {
  const name = pick(random, tokenNames)
  const use = pick<object>(random, [
    { volumes: [{ name: "v", secret: { secretName: name } }] },
    { volumes: [{ name: "v", projected: { sources: [{ secret: { name } }] } }] },
    { imagePullSecrets: [{ name }] },
    {
      containers: [{ ...container("one"), env: [{ name: "A", valueFrom: { secretKeyRef: { name, key: "token" } } }] }],
    },
    { containers: [{ ...container("one"), envFrom: [{ secretRef: { name } }] }] },
    { initContainers: [{ ...container("one"), name: "i", envFrom: [{ secretRef: { name, optional: true } }] }] },
  ])
  return {
    create: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `of-${name}` },
      spec: { nodeName: "n1", serviceAccountName: "default", containers: [container("one")], ...use },
    },
  }
}
