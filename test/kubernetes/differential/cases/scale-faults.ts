// Scales with more than one fault, of built-in kinds and of a custom one: which is told.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const apps = "/apis/apps/v1/namespaces/@{ns}"
const things = "/apis/@{id}.example.com/v1/namespaces/@{ns}/things"

export function scaleFaultCases(): Scenario[] {
  return [
    {
      name: "faults of scales",
      steps: [...workloads(), ...[`${apps}/deployments`, `${apps}/statefulsets`].flatMap(faults)],
    },
    { name: "faults of scales of a custom resource", steps: [...customResource(), ...faults(things)] },
  ]
}

function workloads(): RequestStep[] {
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
  const spec = { replicas: 1, selector: { matchLabels: { a: "b" } }, template }
  return [
    post(`${apps}/deployments`, { metadata: { name: "a" }, spec }),
    post(`${apps}/statefulsets`, { metadata: { name: "a" }, spec: { ...spec, serviceName: "x" } }),
  ]
}

function customResource(): RequestStep[] {
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" }
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  return [
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: "things.@{id}.example.com" },
      spec: {
        group: "@{id}.example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, subresources: { scale }, schema }],
      },
    }),
    get(things, { untilCode: 200, label: "LIST when served" }),
    post(things, {
      apiVersion: "@{id}.example.com/v1",
      kind: "Thing",
      metadata: { name: "a" },
      spec: { replicas: 1 },
    }),
  ]
}

/** Everything that can be wrong with a scale, in every combination. */
function faults(collection: string): RequestStep[] {
  const path = `${collection}/a/scale`
  const uids = [{}, { uid: "x" }]
  const revisions = [{}, { resourceVersion: "1" }, { resourceVersion: "x" }]
  const names = [{}, { name: "b" }, { namespace: "other" }, { labels: { "a b": "c" }, finalizers: ["b"] }]
  const numbers: readonly Json[] = [2, -1]
  return uids.flatMap((uid) =>
    revisions.flatMap((revision) =>
      names.flatMap((name) =>
        numbers.flatMap((replicas) => {
          const body = { metadata: { name: "a", ...name, ...uid, ...revision }, spec: { replicas } }
          const label = `${path} ${JSON.stringify(body)}`
          const whole = { apiVersion: "autoscaling/v1", kind: "Scale", ...body }
          return [
            // Upstream names its key in etcd.
            ...("uid" in uid ? [] : [put(`${path}?dryRun=All`, whole, { label: `PUT ${label}` })]),
            patch(`${path}?dryRun=All`, mergePatch, body, { label: `PATCH ${label}` }),
          ]
        }),
      ),
    ),
  )
}
