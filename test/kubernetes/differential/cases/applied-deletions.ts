// Objects that are applied as if they were being deleted: with a time of deletion and grace periods that no server would give them.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const container = { name: "c", image: "i" }
const spec = { nodeName: "n", automountServiceAccountToken: false, containers: [container] }
const later = "2040-01-01T00:00:00Z"

const states: readonly object[] = [
  { deletionTimestamp: "2020-01-01T00:00:00Z" },
  { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 },
  { deletionTimestamp: later, deletionGracePeriodSeconds: 30 },
  { deletionTimestamp: later, deletionGracePeriodSeconds: -5 },
  { deletionTimestamp: later, deletionGracePeriodSeconds: -5, finalizers: ["a.b/c"] },
  { deletionGracePeriodSeconds: -30 },
]

const options: readonly (Json | undefined)[] = [undefined, { gracePeriodSeconds: 0 }, { gracePeriodSeconds: 10 }]

export function appliedDeletionCases(): Scenario[] {
  return [
    {
      name: "pods are applied as deleted",
      steps: [post(`${core}/serviceaccounts`, { metadata: { name: "default" } }), ...lives("Pod", "pods", { spec })],
    },
    { name: "ConfigMaps are applied as deleted", steps: lives("ConfigMap", "configmaps", {}) },
  ]
}

function lives(kind: string, resource: string, more: object): RequestStep[] {
  return states.flatMap((state, index) =>
    options.flatMap((asked, at) => {
      const name = `a${index}-${at}`
      const url = `${core}/${resource}/${name}`
      const label = (verb: string): { label: string } => ({
        label: `${verb} ${JSON.stringify(state)} ${JSON.stringify(asked)}`,
      })
      const object = { apiVersion: "v1", kind, metadata: { name, ...state }, ...more }
      return [
        patch(`${url}?fieldManager=x`, applyPatch, object, label("APPLY")),
        patch(url, mergePatch, { metadata: { labels: { a: "b" } } }, label("MERGE")),
        remove(url, asked, label("DELETE")),
        get(url, label("GET")),
        remove(url, asked, label("DELETE again")),
        patch(url, mergePatch, { metadata: { finalizers: null } }, label("FINALIZE")),
        get(url, label("GET at last")),
      ]
    }),
  )
}
