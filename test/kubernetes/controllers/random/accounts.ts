// ServiceAccounts, Secrets with their tokens, and the authority of a namespace, which users change and delete.

import { pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { type Family, held, maybe, oneByOne, refusable, some } from "./family.ts"

const accounts = ["default", "robot", "robot"]
const tokens = ["t0", "t1", "t2"]
const authority = "kube-root-ca.crt"
const nameOf = "kubernetes.io/service-account.name"
const uidOf = "kubernetes.io/service-account.uid"

export const serviceAccounts: Family = (random) => {
  const patched = (resource: string, name: string, fields: object): Step => ({ patch: [resource, name], with: fields })
  const steps: (() => Step)[] = [
    () => account(random),
    () => account(random),
    () => token(random),
    () => token(random),
    () => patched("secrets", pick(random, tokens), pick(random, ofTokens)),
    () => patched("secrets", pick(random, tokens), pick(random, ofTokens)),
    () => patched("secrets", pick(random, tokens), { metadata: { annotations: annotations(random) } }),
    () => patched("serviceaccounts", pick(random, accounts), pick(random, ofAccounts)),
    () => patched("configmaps", authority, pick(random, ofAuthority)),
    () => ({ delete: ["secrets", pick(random, tokens)] }),
    () => ({ delete: ["serviceaccounts", pick(random, accounts)], policy: pick(random, ["Background", "Foreground"]) }),
    () => ({ delete: ["serviceaccounts", pick(random, accounts)] }),
    () => ({ delete: ["configmaps", authority] }),
    () => ({ deleteAll: "secrets" }),
  ]
  const begin = [account(random), token(random)]
  return { steps: oneByOne([...begin, ...some(random, 6, 12, () => pick(random, steps)())].map(refusable)) }
}

const account = (random: Random): Step => ({
  create: {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "robot", ...maybe(random, 0.2, held) },
    ...maybe(random, 0.3, { secrets: [{ name: pick(random, tokens) }, { name: "other" }] }),
  },
})

const token = (random: Random): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: pick(random, tokens),
      annotations: { [nameOf]: pick(random, [...accounts, "nobody"]) },
      ...maybe(random, 0.2, held),
    },
    type: "kubernetes.io/service-account-token",
    ...maybe(random, 0.3, { data: pick(random, [{ token: "eA==" }, { namespace: "eA==" }, { more: "eA==" }]) }),
  },
})

const annotations = (random: Random): object =>
  pick(random, [
    { [uidOf]: null },
    { [uidOf]: "UID:serviceaccounts/default" },
    { [uidOf]: "11111111-1111-4111-8111-111111111111" },
    { [nameOf]: pick(random, accounts) },
    { note: "x" },
  ])

const ofTokens = [
  { data: { token: null } },
  { data: { token: "" } },
  { data: { namespace: null } },
  { data: { "ca.crt": "eA==" } },
  { data: null },
  { data: { more: "eA==" } },
  { metadata: held },
  { metadata: { finalizers: null } },
  { metadata: { labels: { a: "b" } } },
]

const ofAccounts = [
  { secrets: [{ name: "t0" }, { name: "t1" }] },
  { secrets: null },
  { metadata: { annotations: { note: "x" } } },
  { metadata: held },
  { metadata: { finalizers: null } },
]

const description = "kubernetes.io/description"
const ofAuthority = [
  { data: { more: "x" } },
  { data: null },
  { data: { "ca.crt": "" } },
  { binaryData: { more: "eA==" } },
  { metadata: { annotations: null } },
  { metadata: { annotations: { [description]: "" } } },
  { metadata: { annotations: { [description]: "mine", note: "x" } } },
  { metadata: { labels: { a: "b" } } },
  { metadata: held },
  { metadata: { finalizers: null } },
]
