// Metadata that is null, empty, or has nothing but nulls, in objects and in those within them: in every kind of body, and what
// becomes of its managers.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"
import { definedWith, definitionOf, definitions } from "./things.ts"

type Body = Record<string, Json>

const space = "namespaces/@{ns}"
const metadatas: readonly Json[] = [
  null,
  {},
  { creationTimestamp: null },
  { labels: null },
  { labels: {}, annotations: null },
  { name: null },
  { creationTimestamp: null, labels: { a: "b" } },
]

export function nullMetadataCases(): Scenario[] {
  return [
    ...Object.entries(kinds).map(([kind, of]) => ({
      name: `a ${kind} has objects without metadata`,
      steps: metadatas.flatMap((metadata, index) => written(kind, of, metadata, index)),
    })),
    { name: "a custom resource has objects without metadata", anyOrder: true, steps: custom() },
    { name: "an applied custom resource with nulls is written again", steps: writtenAgain() },
    { name: "a Job whose template has empty labels is applied again", steps: appliedAgain() },
  ]
}

interface Templated {
  group: string
  plural: string
  spec: (metadata: Json) => Body
}

const podSpec = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] }
const selector = { matchLabels: { a: "b" } }
const always = { ...podSpec, restartPolicy: "Always" }
const template = { metadata: { labels: { a: "b" } }, spec: always }
const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }

const kinds: Readonly<Record<string, Templated>> = {
  Job: { group: "batch", plural: "jobs", spec: (metadata) => ({ template: { metadata, spec: podSpec } }) },
  CronJob: {
    group: "batch",
    plural: "cronjobs",
    spec: (metadata) => ({
      schedule: "1 1 * * *",
      jobTemplate: { metadata, spec: { template: { metadata, spec: podSpec } } },
    }),
  },
  Deployment: {
    group: "apps",
    plural: "deployments",
    spec: (metadata) => ({ selector, template: { metadata, spec: always } }),
  },
  StatefulSet: {
    group: "apps",
    plural: "statefulsets",
    spec: (metadata) => ({
      selector,
      serviceName: "s",
      template,
      volumeClaimTemplates: [{ metadata, spec: claimSpec }],
    }),
  },
  ResourceClaimTemplate: {
    group: "resource.k8s.io",
    plural: "resourceclaimtemplates",
    spec: (metadata) => ({ metadata, spec: { devices: {} } }),
  },
}

function written(kind: string, { group, plural, spec }: Templated, metadata: Json, index: number): RequestStep[] {
  const path = `/apis/${group}/v1/${space}/${plural}`
  const [name, other] = [`a${index}`, `b${index}`]
  const object = (of: string): Json => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: of },
    spec: spec(metadata),
  })
  const label = (verb: string): { label: string } => ({ label: `${verb} ${JSON.stringify(metadata)}` })
  const apply = (manager: string, of: string): RequestStep =>
    patch(`${path}/${of}?fieldManager=${manager}`, applyPatch, object(of), label(`APPLY by ${manager}`))
  const change = { spec: spec(metadata) } as Json
  return [
    apply("m", name),
    apply("m", name),
    apply("n", name),
    get(`${path}/${name}`, label("GET")),
    patch(`${path}/${name}?fieldManager=o`, mergePatch, change, label("MERGE")),
    patch(`${path}/${name}?fieldManager=p`, strategicPatch, change, label("STRATEGIC")),
    put(`${path}/${name}?fieldManager=q`, object(name), label("PUT")),
    post(`${path}?fieldManager=m`, object(other), label("POST")),
    apply("n", other),
    get(`${path}/${other}`, label("GET other")),
    patch(
      `${path}/${other}?fieldManager=m`,
      applyPatch,
      { apiVersion: `${group}/v1`, kind, metadata: null, spec: spec(metadata) },
      label("APPLY without metadata"),
    ),
    remove(`${path}/${name}`, undefined, label("DELETE")),
  ]
}

const group = "u@{id}.example.com"
const things = `/apis/${group}/v1/${space}/things`
const embedded = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
}
const declared = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  properties: { spec: { type: "object", properties: { a: { type: "string" } } } },
}
const nullable = { ...embedded, nullable: true }
const open = { "x-kubernetes-preserve-unknown-fields": true }
const described = {
  ...embedded,
  properties: { metadata: { type: "object", properties: { name: { type: "string", default: "d" } } } },
}

function custom(): RequestStep[] {
  const spec = {
    type: "object",
    properties: {
      one: embedded,
      declared,
      nullable,
      described,
      list: { type: "array", items: embedded },
      map: { type: "object", additionalProperties: embedded },
      plain: {
        type: "object",
        properties: { metadata: { type: "object" } },
        "x-kubernetes-preserve-unknown-fields": true,
      },
      free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  }
  const version = { schema: { openAPIV3Schema: { type: "object", properties: { spec } } } }
  const forms: [string, (object: Json) => Body][] = [
    ["one", (one) => ({ one })],
    ["declared", (one) => ({ declared: one })],
    ["nullable", (one) => ({ nullable: one })],
    ["described", (one) => ({ described: one })],
    ["list", (one) => ({ list: [one] })],
    ["map", (one) => ({ map: { k: one } })],
    ["plain", (one) => ({ plain: one })],
    ["free", (one) => ({ free: one })],
  ]
  return [
    post(definitions, definitionOf(group, {}, version) as Json),
    get(things, { untilCode: 200 }),
    ...forms.flatMap(([form, specOf]) =>
      metadatas.slice(0, form === "described" ? 2 : 6).flatMap((metadata, index) => {
        const object = (name: string): Json => ({
          apiVersion: `${group}/v1`,
          kind: "Thing",
          metadata: { name },
          spec: specOf({ apiVersion: "v1", kind: "Pod", metadata }),
        })
        const name = `${form}${index}`
        const label = (verb: string): { label: string } => ({ label: `${verb} ${form} ${JSON.stringify(metadata)}` })
        const apply = (manager: string, of: string): RequestStep =>
          patch(`${things}/${of}?fieldManager=${manager}`, applyPatch, object(of), label(`APPLY by ${manager}`))
        return [
          apply("m", name),
          apply("m", name),
          apply("n", name),
          get(`${things}/${name}`, label("GET")),
          post(`${things}?fieldManager=m`, object(`x${name}`), label("POST")),
          put(`${things}/x${name}?fieldManager=p`, object(`x${name}`), label("PUT")),
          patch(
            `${things}/x${name}?fieldManager=q`,
            mergePatch,
            { spec: specOf({ apiVersion: "v1", kind: "Pod", metadata }) },
            label("MERGE"),
          ),
          patch(
            `${things}/x${name}?fieldManager=r`,
            jsonPatch,
            [{ op: "replace", path: "/spec", value: specOf({ apiVersion: "v1", kind: "Pod", metadata }) }],
            label("JSON"),
          ),
          apply("n", `x${name}`),
        ]
      }),
    ),
  ]
}

/** No answer shows the nulls, only the revision of a write that changes nothing. */
function writtenAgain(): RequestStep[] {
  const within = (metadata: Json): Json => ({ apiVersion: "v1", kind: "Pod", metadata })
  const contents: [metadata: Body, spec: Body][] = [
    [{}, { one: within({ labels: null }) }],
    [{}, { one: within(null) }],
    [{}, { list: [within({}), within({ annotations: {}, finalizers: [] })] }],
    [{}, { free: null }],
    [{}, { free: { a: null, b: [null, { c: null }] } }],
    [{ labels: null }, {}],
    [{ labels: {}, annotations: null }, {}],
    [{ finalizers: [] }, {}],
    [{ finalizers: null, ownerReferences: [] }, {}],
    [{ creationTimestamp: null, deletionTimestamp: null }, {}],
  ]
  const schema = { one: embedded, list: { type: "array", items: embedded }, free: open }
  return [
    ...definedWith(group, schema),
    ...contents.flatMap(([metadata, spec], index) => {
      const path = `${things}/a${index}?fieldManager=`
      const object = (name: string): Json => ({
        apiVersion: `${group}/v1`,
        kind: "Thing",
        metadata: { ...metadata, name },
        spec,
      })
      const label = (text: string): { label: string } => ({ label: `${text} ${index}` })
      const apply = (manager: string, text: string): RequestStep =>
        patch(`${path}${manager}`, applyPatch, object(`a${index}`), label(`APPLY ${text}`))
      const merge = (text: string): RequestStep => patch(`${path}m`, mergePatch, {}, label(`MERGE ${text}`))
      return [
        apply("m", "first"),
        get(`${things}/a${index}`),
        apply("m", "again"),
        merge("first"),
        merge("second"),
        apply("m", "third"),
        apply("n", "by another"),
        merge("third"),
        post(things, object(`b${index}`), label("POST")),
        patch(`${things}/b${index}`, mergePatch, {}, label("MERGE after POST")),
        put(`${things}/b${index}`, object(`b${index}`), label("PUT")),
      ]
    }),
    get(things),
  ]
}

function appliedAgain(): RequestStep[] {
  const path = `/apis/batch/v1/${space}/jobs/a?fieldManager=m`
  const job: Json = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "a" },
    spec: { template: { metadata: { labels: {} }, spec: podSpec } },
  }
  return ["first", "second", "third"].map((time) => patch(path, applyPatch, job, { label: `APPLY ${time}` }))
}
