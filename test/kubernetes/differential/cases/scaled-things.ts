// Custom resources that can be scaled: their definition, where they are, and what they are sent.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, type RequestStep } from "../scenario.ts"

export const group = "s@{id}.example.com"
export const list = `/apis/${group}/v1/namespaces/@{ns}/things`
export const scale = `${list}/a/scale`

export function made(): RequestStep[] {
  const integers = { type: "object", properties: { n: { type: "integer" }, selected: { type: "string" } } }
  const openAPIV3Schema = { type: "object", properties: { spec: integers, status: integers } }
  const paths = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n", labelSelectorPath: ".status.selected" }
  const subresources = { status: {}, scale: paths }
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, subresources }
  const names = { plural: "things", kind: "Thing" }
  const spec = { group, scope: "Namespaced", names, versions: [version] }
  const thing = (name: string, numbers: object): Json =>
    ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, spec: numbers }) as Json
  return [
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `things.${group}` },
      spec,
    } as Json),
    get(list, { untilCode: 200 }),
    post(list, thing("a", { n: 3 })),
    post(list, thing("zero", { n: 0 })),
    post(list, thing("none", {})),
    patch(`${list}/a/status`, mergePatch, { status: { n: 2, selected: "app=x" } }),
  ]
}

export function wanted(replicas: unknown, metadata: object = {}): Json {
  const whole = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "a", ...metadata },
    spec: { replicas },
  }
  return whole as Json
}
