// Who manages the number of a custom resource that is scaled: by an apply, by others, and where there was none.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
} from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"
import { group, list, made, scale, wanted } from "./scaled-things.ts"

export function customScaleManagerCases(): Scenario[] {
  return [
    { name: "a custom resource's scale is applied", steps: [...made(), ...applications()] },
    { name: "a custom resource's number is managed by who scaled it last", steps: [...made(), ...managed()] },
    { name: "a custom resource gets a number and the defaults around it", steps: aroundNumber() },
  ]
}

/** Of an object without a spec. */
function aroundNumber(): RequestStep[] {
  const inner = { type: "object", properties: { n: { type: "integer" }, b: { type: "string", default: "c" } } }
  const around = { a: { type: "object", properties: { x: { type: "integer" } }, default: { x: 1 } }, inner }
  const spec = { type: "object", properties: around }
  const paths = { specReplicasPath: ".spec.inner.n", statusReplicasPath: ".status.n" }
  const ofGroup = `d${group}`
  const path = `/apis/${ofGroup}/v1/namespaces/@{ns}/things`
  const thing = (more: object = {}): Json =>
    ({ apiVersion: `${ofGroup}/v1`, kind: "Thing", metadata: { name: "a" }, ...more }) as Json
  return [
    post(
      definitions,
      definitionOf(
        ofGroup,
        {},
        {
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
          subresources: { scale: paths },
        },
      ) as Json,
    ),
    get(path, { untilCode: 200 }),
    post(path, thing()),
    put(`${path}/a/scale?fieldManager=s`, wanted(2)),
    get(`${path}/a`),
    patch(`${path}/a?fieldManager=m`, applyPatch, thing({ spec: { a: { x: 2 } } })),
    patch(`${path}/a`, mergePatch, { spec: null }),
    put(`${path}/a/scale`, wanted(3), { label: "PUT scale again" }),
    ...["first", "second"].map((time) =>
      patch(`${path}/a`, mergePatch, {}, { label: `PATCH nothing, the ${time} time` }),
    ),
    patch(`${path}/a`, mergePatch, { spec: { inner: { n: null } } }),
  ]
}

/** What is there already can be applied, and nothing else: by one manager after another, and where there was no number. */
function applications(): RequestStep[] {
  const apply = (name: string, replicas: number | undefined, more: string): RequestStep =>
    patch(`${list}/${name}/scale?${more}`, applyPatch, JSON.stringify(wanted(replicas, { name })), {
      label: `APPLY ${replicas} to ${name}, ${more}`,
    })
  return [
    apply("a", 5, "fieldManager=x"),
    apply("a", 5, "fieldManager=x&force=true"),
    apply("a", 3, "fieldManager=x"),
    apply("a", 3, "fieldManager=y"),
    apply("a", undefined, "fieldManager=y"),
    apply("a", 4, "fieldManager=x&force=true&dryRun=All"),
    get(`${list}/a`),
    apply("none", 5, "fieldManager=x"),
    apply("none", undefined, "fieldManager=x"),
    apply("none", 5, "fieldManager=x&fieldValidation=Strict"),
    get(`${list}/none`),
    patch(scale, mergePatch, { spec: { replicas: 6 } }, { label: "MERGE 6" }),
    apply("a", 6, "fieldManager=x"),
    apply("a", 7, "fieldManager=x"),
    get(`${list}/a`),
  ]
}

/** Every way to write it after every other; a Scale that says no version is nobody's. */
function managed(): RequestStep[] {
  const thing = (name: string): RequestStep =>
    post(list, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, spec: { n: 3 } })
  const writes: ((path: string, name: string, replicas: number, label: string) => RequestStep)[] = [
    (path, name, replicas, label) =>
      put(`${path}?fieldManager=p`, wanted(replicas, { name }), { label: `PUT ${label}` }),
    (path, name, replicas, label) =>
      put(path, { metadata: { name }, spec: { replicas } }, { label: `PUT without version ${label}` }),
    (path, name, replicas, label) =>
      put(
        path,
        { apiVersion: "autoscaling/v1", metadata: { name }, spec: { replicas } },
        { label: `PUT without kind ${label}` },
      ),
    (path, _, replicas, label) => patch(path, mergePatch, { spec: { replicas } }, { label: `MERGE ${label}` }),
    (path, _, replicas, label) =>
      patch(path, mergePatch, { apiVersion: null, spec: { replicas } }, { label: `MERGE without version ${label}` }),
    (path, _, replicas, label) =>
      patch(path, jsonPatch, [{ op: "replace", path: "/spec/replicas", value: replicas }], { label: `JSON ${label}` }),
    (path, name, replicas, label) =>
      patch(`${path}?fieldManager=x`, applyPatch, JSON.stringify(wanted(replicas, { name })), {
        label: `APPLY ${label}`,
      }),
  ]
  return writes.flatMap((first, one) =>
    writes.flatMap((second, other) => {
      const name = `m${one}${other}`
      const path = `${list}/${name}`
      return [
        thing(name),
        first(`${path}/scale`, name, 3, "3"),
        second(`${path}/scale`, name, 3, "3 after it"),
        first(`${path}/scale`, name, 4, "4"),
        second(`${path}/scale`, name, 5, "5 after it"),
        get(path),
      ]
    }),
  )
}
