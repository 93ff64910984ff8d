// Who may do what, and with which credential: ServiceAccounts and their tokens, CertificateSigningRequests, aggregated roles.

import type { Scenario, Step } from "../scenario.ts"
import { request, requestOf, saidOf } from "./certificate-steps.ts"
import { settle } from "./steps.ts"

const tokenSecret = (account: string, metadata: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "token", annotations: { "kubernetes.io/service-account.name": account }, ...metadata },
    type: "kubernetes.io/service-account-token",
  },
})
const account: Step = { create: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } } }
const role = (name: string, rules: object[], more: object = {}, labels: object = {}): Step => ({
  create: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `NAMESPACE-${name}`, labels },
    rules,
    ...more,
  },
})
const rule = (resource: string, ...verbs: string[]): object => ({ apiGroups: [""], resources: [resource], verbs })
const all = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "add-to": "NAMESPACE" } }] } }
const joins = { "add-to": "NAMESPACE" }

const jane = await requestOf("CN=jane")
const node = await requestOf("CN=system:node:n, O=system:nodes")
const nodeAtFirst = await requestOf("CN=system:node:n, CN=jane, O=system:nodes")
const nodeAtLast = await requestOf("CN=jane, CN=system:node:n, O=system:nodes")
const decided = (type: "Approved" | "Denied"): Step => ({
  patch: ["certificatesigningrequests", "NAMESPACE"],
  with: { status: { conditions: [saidOf(type)] } },
  subresource: "approval",
})

export const accessScenarios: readonly Scenario[] = [
  { name: "token of an account in a secret", steps: [account, settle, tokenSecret("robot"), settle] },
  {
    name: "token of an account that is deleted",
    steps: [account, settle, tokenSecret("robot"), settle, { delete: ["serviceaccounts", "robot"] }, settle],
  },
  {
    name: "token that somebody empties",
    steps: [
      account,
      settle,
      tokenSecret("robot"),
      settle,
      { patch: ["secrets", "token"], with: { data: { "ca.crt": "eA==", namespace: null, token: null } } },
      settle,
    ],
  },
  {
    name: "token without a letter",
    steps: [
      account,
      settle,
      tokenSecret("robot"),
      settle,
      { patch: ["secrets", "token"], with: { data: { namespace: "", token: "" } } },
      settle,
    ],
  },
  {
    name: "token that somebody empties while its secret is held",
    steps: [
      account,
      settle,
      tokenSecret("robot", {
        annotations: { "kubernetes.io/service-account.name": "robot" },
        finalizers: ["example.com/hold"],
      }),
      settle,
      { delete: ["secrets", "token"] },
      settle,
      { patch: ["secrets", "token"], with: { data: { "ca.crt": "eA==", namespace: null } } },
      settle,
    ],
  },
  {
    name: "token of another account of the name",
    steps: [
      account,
      settle,
      tokenSecret("robot", {
        annotations: {
          "kubernetes.io/service-account.name": "robot",
          "kubernetes.io/service-account.uid": "11111111-1111-4111-8111-111111111111",
        },
      }),
      settle,
    ],
  },
  {
    name: "account that is needed is made again",
    steps: [
      settle,
      { delete: ["serviceaccounts", "default"] },
      { until: ["serviceaccounts", "default"], has: { metadata: { name: "default" } } },
      settle,
    ],
  },
  {
    name: "authority that somebody changes",
    steps: [
      settle,
      {
        patch: ["configmaps", "kube-root-ca.crt"],
        with: { data: { "ca.crt": "x", more: "y" }, metadata: { annotations: null } },
      },
      settle,
    ],
  },
  {
    name: "authority that somebody deletes",
    steps: [
      settle,
      { delete: ["configmaps", "kube-root-ca.crt"] },
      { until: ["configmaps", "kube-root-ca.crt"], has: { metadata: { name: "kube-root-ca.crt" } } },
      settle,
    ],
  },
  {
    name: "authority that somebody changes in a namespace that ends",
    steps: [
      {
        patch: ["configmaps", "kube-root-ca.crt"],
        with: { metadata: { finalizers: ["example.com/hold"] } },
      },
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      {
        until: ["namespaces", "NAMESPACE"],
        has: { status: { conditions: [{ type: "NamespaceFinalizersRemaining", status: "True" }] } },
      },
      { patch: ["configmaps", "kube-root-ca.crt"], with: { data: { more: "y" } } },
      settle,
    ],
  },
  {
    name: "role that gathers others",
    steps: [
      role("b", [rule("pods", "get"), rule("secrets", "get")], {}, joins),
      role("a", [rule("nodes", "list"), rule("pods", "get")], {}, joins),
      role("all", [rule("nothing", "get")], all),
      settle,
      role("c", [rule("services", "get")], {}, joins),
      settle,
      { patch: ["clusterroles", "NAMESPACE-a"], with: { metadata: { labels: { "add-to": null } } } },
      settle,
    ],
  },
  {
    name: "role that gathers none has its own rules until it gathers some",
    steps: [
      role("all", [rule("nothing", "get")], all),
      settle,
      role("a", [rule("pods", "get")], {}, joins),
      settle,
      { patch: ["clusterroles", "NAMESPACE-a"], with: { metadata: { labels: { "add-to": null } } } },
      settle,
      { patch: ["clusterroles", "NAMESPACE-all"], with: { rules: [rule("services", "get")] } },
      settle,
    ],
  },
  {
    name: "roles that gather each other",
    steps: [role("a", [rule("pods", "get")], all, joins), role("b", [rule("nodes", "get")], {}, joins), settle],
  },
  { name: "request for a certificate waits", steps: [request(jane), settle] },
  { name: "request for a certificate is signed", steps: [request(jane), decided("Approved"), settle] },
  { name: "request for a certificate is denied", steps: [request(jane), decided("Denied"), settle] },
  {
    name: "request for a certificate of another use",
    steps: [request(jane, { usages: ["server auth"] }), decided("Approved"), settle],
  },
  {
    name: "request for a certificate of a node",
    steps: [
      request(node, {
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        usages: ["digital signature", "client auth"],
      }),
      settle,
    ],
  },
  {
    name: "request for a certificate of a node that is not one",
    steps: [
      request(jane, { signerName: "kubernetes.io/kube-apiserver-client-kubelet", usages: ["client auth"] }),
      decided("Approved"),
      settle,
    ],
  },
  {
    name: "certificate request of a node whose last common name is another",
    steps: [
      request(nodeAtFirst, {
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        usages: ["digital signature", "client auth"],
      }),
      decided("Approved"),
      settle,
    ],
  },
  {
    name: "certificate request of another whose last common name is a node's",
    steps: [
      request(nodeAtLast, {
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        usages: ["digital signature", "client auth"],
      }),
      decided("Approved"),
      settle,
    ],
  },
  {
    name: "request for a certificate of a kubelet's server",
    steps: [
      request(node, { signerName: "kubernetes.io/kubelet-serving", usages: ["server auth"] }),
      decided("Approved"),
      settle,
    ],
  },
  {
    name: "request for a certificate of another signer",
    steps: [request(jane, { signerName: "example.com/other" }), decided("Approved"), settle],
  },
]
