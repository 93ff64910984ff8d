import { expect, test } from "vitest"
import { forbidden, serviceUnavailable, tooManyRequests, type StatusError } from "./status.ts"
import { scrubMessages, tenantMessage } from "./tenant-texts.ts"

const tenant = { clusterKey: "default-123456-acme" }
const names = {
  tenant,
  namespace: "shop",
  superNamespace: `${tenant.clusterKey}-shop`,
  uid: "mine",
  superUID: "theirs",
}

test.each<[text: string, expected: string]>([
  [`pod=web_${tenant.clusterKey}-shop(theirs)`, "pod=web_shop(mine)"],
  [`namespaces "${tenant.clusterKey}-shop-2" not found`, 'namespaces "shop-2" not found'],
  [
    `0/3 nodes are available: 3 Insufficient gpu.${tenant.clusterKey}.tenancy.x-k8s.io/big`,
    "0/3 nodes are available: 3 Insufficient gpu/big",
  ],
  ['configmap "tenant-kube-root-ca.crt" not found', 'configmap "kube-root-ca.crt" not found'],
  ['configmap "tenant-tenant-kube-root-ca.crt" not found', 'configmap "tenant-kube-root-ca.crt" not found'],
  ["plain", "plain"],
])("scrubMessages() makes %j, at any depth, %j", (message, expected) => {
  const status = { reason: names.superNamespace, containerStatuses: [{ state: { waiting: { message } } }] }
  const scrubbed = { ...status, containerStatuses: [{ state: { waiting: { message: expected } } }] }
  expect(scrubMessages(status, names)).toEqual(scrubbed)
})

const pods = { group: "", resource: "pods" }

test.each<[what: string, error: StatusError, expected: string]>([
  [
    "admission says",
    forbidden(pods, "web", `exceeded quota in ${names.superNamespace}`),
    'pods "web" is forbidden: exceeded quota in shop',
  ],
  ["the network says", serviceUnavailable("GET https://10.0.0.1/api/v1: connect ECONNREFUSED"), "it does not answer"],
  ["an overloaded server says", tooManyRequests("too many requests", 1), "it does not answer"],
  [
    "RBAC says",
    forbidden(pods, "", 'User "system:serviceaccount:polyplane-system:syncer" cannot create pods'),
    "it does not permit this",
  ],
])("tenantMessage(): of what %s a tenant is told what it concerns", (_what, error, expected) => {
  expect(tenantMessage(error, names)).toBe(expected)
})
