// The behavior of a HorizontalPodAutoscaler in autoscaling/v1's annotation: the JSON of Go's internal structs without tags, with
// capitalized field names and nulls. They are decoded case-insensitively. Source: k8s.io/kubernetes/pkg/apis/autoscaling.

import type { Json } from "../../../apimachinery/object.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"

/** Fields in the order in which they are printed, each with the layout of its value. */
interface Layout {
  readonly [field: string]: Layout | null
}

const policy: Layout = { type: null, value: null, periodSeconds: null }
const rules: Layout = { stabilizationWindowSeconds: null, selectPolicy: null, policies: policy, tolerance: null }
const layout: Layout = { scaleUp: rules, scaleDown: rules }

export function behaviorToV1(behavior: Json | undefined): Json | undefined {
  return isObject(behavior) ? capitalized(behavior, layout) : undefined
}

export function behaviorFromV1(behavior: Json | undefined): Json | undefined {
  return isObject(behavior) ? plain(behavior, layout) : undefined
}

function capitalized(value: Json, fields: Layout | null): Json {
  if (fields === null) return value
  if (Array.isArray(value)) return value.map((item) => capitalized(item, fields))
  if (!isObject(value)) return value
  const entries = Object.entries(fields).map(([name, inner]): [string, Json] => [
    `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
    capitalized(value[name] ?? null, inner),
  ])
  return Object.fromEntries(entries)
}

function plain(value: Json, fields: Layout | null): Json {
  if (fields === null) return value
  if (Array.isArray(value)) return value.map((item) => plain(item, fields))
  if (!isObject(value)) return value
  const names = new Map(Object.keys(fields).map((name) => [name.toLowerCase(), name]))
  const entries = Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
    const name = names.get(key.toLowerCase())
    return name === undefined || inner === null ? [] : [[name, plain(inner, fields[name] ?? null)]]
  })
  return Object.fromEntries(entries)
}
