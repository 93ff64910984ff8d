// The scale subresource of custom resources: every form an answer can have, numbers that are none, and what it does not do.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const group = "s@{id}.example.com"
const list = `/apis/${group}/v1/namespaces/@{ns}/things`
const scale = `${list}/a/scale`

export function customScaleCases(): Scenario[] {
  return [
    { name: "a custom resource's scale has the form that was asked for", steps: [...made(), ...forms()] },
    { name: "a custom resource's scale takes what is a number", steps: [...made(), ...numbers(), ...others()] },
  ]
}

function made(): RequestStep[] {
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

function wanted(replicas: unknown, metadata: object = {}): Json {
  const whole = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "a", ...metadata },
    spec: { replicas },
  }
  return whole as Json
}

function forms(): RequestStep[] {
  const accepted = [
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/yaml",
    "text/plain",
  ]
  return [
    ...accepted.flatMap((accept) => [
      get(scale, { headers: { accept }, label: `GET ${accept}` }),
      put(`${scale}?dryRun=All`, wanted(4), { headers: { accept }, label: `PUT ${accept}` }),
      patch(
        `${scale}?dryRun=All`,
        mergePatch,
        { spec: { replicas: 4 } },
        { headers: { accept }, label: `PATCH ${accept}` },
      ),
    ]),
    ...["zero", "none", "absent"].flatMap((name) => [
      get(`${list}/${name}/scale`),
      get(`${list}/${name}/scale`, { headers: { accept: accepted[0] ?? "" }, label: `GET table of ${name}` }),
    ]),
  ]
}

function numbers(): RequestStep[] {
  return [
    ...[-1, 0, null, undefined, 5].map((replicas) =>
      put(scale, wanted(replicas), { label: `PUT ${String(replicas)}` }),
    ),
    ...[-1, 0, null, "x", 1.5, 2 ** 31, 6].map((replicas) =>
      patch(scale, mergePatch, { spec: { replicas } }, { label: `PATCH ${String(replicas)}` }),
    ),
    ...["Strict", "Warn", "Ignore", "Bogus"].map((validation) =>
      patch(
        `${scale}?fieldValidation=${validation}`,
        mergePatch,
        { spec: { replicas: 5, x: 1 } },
        {
          label: `PATCH unknown, ${validation}`,
        },
      ),
    ),
  ]
}

function others(): RequestStep[] {
  return [
    put(scale, wanted(1, { name: "b" }), { label: "PUT another name" }),
    put(scale, wanted(1, { resourceVersion: "1" }), { label: "PUT old revision" }),
    put(scale, wanted(1, { uid: "x" }), { label: "PUT another uid" }),
    put(scale, wanted(1, { labels: { q: "r" } }), { label: "PUT labels" }),
    put(`${list}/absent/scale`, wanted(1, { name: "absent" })),
    put(`${list}/none/scale`, wanted(1, { name: "none" })),
    post(scale, wanted(1)),
    remove(scale),
    post(`${list}/a/status`, wanted(1)),
    remove(`${list}/a/status`),
    get(`${list}/a`),
  ]
}
