// Reviews with several faults, and who may report on devices: service accounts of the node, by their names.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, put, type RequestStep, type Scenario } from "../scenario.ts"

const reviews = "/apis/authorization.k8s.io/v1"
const apiGroup = "rbac.authorization.k8s.io"
const rbac = `/apis/${apiGroup}/v1`
const claims = "/apis/resource.k8s.io/v1/namespaces/@{ns}/resourceclaims"

export function reviewRuleCases(): Scenario[] {
  return [
    { name: "access reviews have several faults", steps: faults() },
    { name: "reviews have owners", steps: owned() },
    { name: "service accounts of a node report on devices", steps: reports() },
  ]
}

function faults(): RequestStep[] {
  const selectors: readonly Json[] = [
    {},
    { rawSelector: "a=b", requirements: [{ key: "a", operator: "In", values: ["b"] }] },
    { requirements: [{ key: "", operator: "In" }] },
    { rawSelector: "a=b" },
  ]
  const others: readonly object[] = [{}, { user: "a" }, { nonResourceAttributes: { path: "/a", verb: "get" } }]
  return selectors.flatMap((selector, index) =>
    others.flatMap((other, place) =>
      ["subjectaccessreviews", "selfsubjectaccessreviews", "namespaces/@{ns}/localsubjectaccessreviews"].map((kind) =>
        post(
          `${reviews}/${kind}`,
          {
            metadata: { labels: { a: "b" } },
            spec: { ...other, resourceAttributes: { verb: "get", fieldSelector: selector, labelSelector: selector } },
          },
          { label: `POST ${kind} ${index} ${place}` },
        ),
      ),
    ),
  )
}

/** They are answered as they would be stored. */
function owned(): RequestStep[] {
  const owner = { apiVersion: "v1", kind: "Pod", name: "a", uid: "u" }
  const paths = [
    `${reviews}/subjectaccessreviews`,
    `${reviews}/selfsubjectaccessreviews`,
    "/apis/authentication.k8s.io/v1/tokenreviews",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
  ]
  return paths.flatMap((path) =>
    [[{}], [owner, owner], [owner]].map((ownerReferences, index) =>
      post(
        path,
        { metadata: { ownerReferences }, spec: { token: "a", user: "a" } },
        { label: `POST ${path} ${index}` },
      ),
    ),
  )
}

function reports(): RequestStep[] {
  const name = "d@{id}"
  const spec = { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } }
  const device = { driver: "a.example.com", pool: "p", device: "d" }
  const status = (node: string): Json => ({
    allocation: {
      devices: { results: [{ request: "r", ...device }] },
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }],
      },
    },
    devices: [{ ...device, data: { a: 1 } }],
  })
  const users = ["plain", "x", "ns:name", "a:b:c", "NS:name", ":"].map((user, index) =>
    index === 0 ? user : `system:serviceaccount:${user}`,
  )
  return [
    post(`${rbac}/clusterroles`, {
      metadata: { name },
      rules: [
        {
          apiGroups: ["resource.k8s.io"],
          resources: ["resourceclaims/status", "resourceclaims/binding"],
          verbs: ["update"],
        },
      ],
    }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup, kind: "ClusterRole", name },
      subjects: [{ kind: "Group", apiGroup, name }],
    }),
    post(claims, { metadata: { name: "c" }, spec }),
    ...users.flatMap((user) =>
      ["n", "N"].map((node) =>
        put(
          `${claims}/c/status?dryRun=All`,
          { metadata: { name: "c" }, spec, status: status(node) },
          {
            as: { name: user, groups: [name] },
            headers: { "impersonate-extra-authentication.kubernetes.io%2Fnode-name": node },
            label: `PUT of ${user} on ${node}`,
          },
        ),
      ),
    ),
  ]
}
