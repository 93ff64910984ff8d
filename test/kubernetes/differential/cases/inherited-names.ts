// Names that every object of JavaScript inherits, or that would change what it inherits: to Kubernetes they are names as any other.

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
  strategicPatch,
  withQuery,
} from "../scenario.ts"

export const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"] as const
export const maps = "/api/v1/namespaces/@{ns}/configmaps"
export const dryRun = "?dryRun=All"

export function inheritedNameCases(): Scenario[] {
  return [
    { name: "keys of a ConfigMap have names that objects inherit", anyOrder: true, steps: keys() },
    { name: "labels and annotations have names that objects inherit", steps: labels() },
    { name: "a JSON patch leads through names that objects inherit", steps: jsonPatches() },
    { name: "several managers apply names that objects inherit", steps: applied() },
    { name: "undeclared fields have names that objects inherit", steps: undeclared() },
    { name: "items of lists have names that objects inherit", steps: items() },
  ]
}

/** An own property of each, `__proto__` too. */
export const all = (value: Json): { [key: string]: Json } => Object.fromEntries(names.map((name) => [name, value]))
export const one = (name: string, value: Json): { [key: string]: Json } => Object.fromEntries([[name, value]])

export const map = (more: object = {}, name = "a"): Json =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...more }) as Json

function keys(): RequestStep[] {
  return [
    post(maps, map({ data: all("x") })),
    post(maps, map({ binaryData: all("eA==") }, "b")),
    post(maps, map({ data: all("x"), binaryData: all("eA==") }, "c"), { label: "POST keys twice" }),
    post("/api/v1/namespaces/@{ns}/secrets", { ...(map({ stringData: all("x") }) as object), kind: "Secret" }),
    put(`${maps}/a`, map({ data: all("y") })),
    get(`${maps}/a`),
    get(`${maps}/a`, { headers: { accept: "application/yaml" }, label: "GET yaml" }),
    get(maps),
    ...[mergePatch, strategicPatch].flatMap((type) =>
      names.flatMap((name) => [
        patch(`${maps}/a`, type, { data: one(name, "z") }, { label: `PATCH ${type} ${name}` }),
        patch(`${maps}/a`, type, { data: one(name, null) }, { label: `PATCH ${type} ${name} away` }),
        patch(`${maps}/a`, type, { data: one(name, { a: "z" }) }, { label: `PATCH ${type} ${name} to an object` }),
      ]),
    ),
    patch(`${maps}/a`, mergePatch, { data: all("z") }, { label: "PATCH all" }),
    patch(`${maps}/a`, strategicPatch, { data: { ...all(null), a: "b" } }, { label: "PATCH all away" }),
    get(`${maps}/a`, { label: "GET at the end" }),
  ]
}

function labels(): RequestStep[] {
  const valid = Object.fromEntries(names.slice(1).map((name) => [name, "x"]))
  const selectors = names.flatMap((name) => [`${name}=x`, `!${name}`, name, `${name} in (x,y)`, `${name}!=x`])
  return [
    ...names.map((name) =>
      post(maps, map({ metadata: { name: "l", labels: one(name, "x") } }), { label: `label ${name}` }),
    ),
    ...names.map((name) =>
      post(maps, map({ metadata: { name: "l", annotations: one(name, "x") } }), { label: `annotation ${name}` }),
    ),
    post(maps, map({ metadata: { name: "all", labels: valid, annotations: valid, finalizers: ["x.y/constructor"] } })),
    ...selectors.map((selector) => get(withQuery(maps, `labelSelector=${encodeURIComponent(selector)}`))),
    ...names.map((name) => get(withQuery(maps, `fieldSelector=${name}%3Dx`))),
    ...names.map((name) => get(withQuery(maps, `fieldSelector=metadata.${name}%3Dx`))),
    patch(`${maps}/all`, mergePatch, { metadata: { labels: one("constructor", null), finalizers: null } }),
  ]
}

function jsonPatches(): RequestStep[] {
  const operate = (...operations: object[]): RequestStep =>
    patch(`${maps}/a`, jsonPatch, operations as Json, { label: `PATCH ${JSON.stringify(operations)}` })
  return [
    post(maps, map({ data: { a: "b" } })),
    ...names.flatMap((name) => [
      operate({ op: "test", path: `/data/${name}`, value: null }),
      operate({ op: "remove", path: `/data/${name}` }),
      operate({ op: "add", path: `/data/${name}`, value: "x" }),
      operate({ op: "test", path: `/data/${name}`, value: "x" }),
      operate({ op: "replace", path: `/data/${name}`, value: "y" }),
      operate({ op: "copy", from: `/data/${name}`, path: "/data/b" }, { op: "test", path: "/data/b", value: "y" }),
      operate({ op: "move", from: `/data/${name}`, path: `/metadata/labels` }),
      operate({ op: "move", from: `/data/${name}`, path: `/data/c` }),
      operate({ op: "add", path: `/${name}`, value: "x" }),
      operate({ op: "add", path: `/metadata/${name}/x`, value: "x" }),
      operate({ op: "add", path: `/metadata/labels`, value: one(name, "x") }),
      operate({ op: "add", path: `/metadata/labels/${name}/x`, value: "x" }),
      operate({ op: name, path: "/data/d", value: "x" }),
    ]),
    get(`${maps}/a`),
  ]
}

function applied(): RequestStep[] {
  const apply = (manager: string, data: Json, more = ""): RequestStep =>
    patch(`${maps}/a?fieldManager=${manager}${more}`, applyPatch, map({ data }), {
      label: `APPLY ${manager} ${JSON.stringify(data)}${more}`,
    })
  return [
    apply("one", all("x")),
    ...names.map((name) => apply("two", one(name, "y"))),
    apply("two", all("x")),
    apply("two", one("constructor", "y"), "&force=true"),
    apply("one", one("__proto__", "x")),
    apply("one", {}),
    apply("__proto__", one("valueOf", "x")),
    apply("constructor", one("valueOf", "x")),
    apply("two", {}),
    get(`${maps}/a`),
  ]
}

function undeclared(): RequestStep[] {
  const pods = `/api/v1/namespaces/@{ns}/pods${dryRun}`
  const container = { name: "a", image: "x" }
  const pod = (spec: object, more: object = {}): Json =>
    ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a" },
      spec: { containers: [container], ...spec },
      ...more,
    }) as Json
  return ["Strict", "Warn", "Ignore"].flatMap((mode) =>
    names.flatMap((name) => [
      post(`${pods}&fieldValidation=${mode}`, pod({}, one(name, "x")), { label: `POST ${mode} ${name}` }),
      post(`${pods}&fieldValidation=${mode}`, pod(one(name, { a: "x" })), { label: `POST ${mode} spec.${name}` }),
      post(`${pods}&fieldValidation=${mode}`, pod({ containers: [{ ...container, ...one(name, []) }] }), {
        label: `POST ${mode} spec.containers.${name}`,
      }),
      patch(
        `/api/v1/namespaces/@{ns}${dryRun}&fieldValidation=${mode}`,
        mergePatch,
        { spec: one(name, 1) },
        {
          label: `PATCH ${mode} spec.${name}`,
        },
      ),
    ]),
  )
}

function items(): RequestStep[] {
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  const container = { name: "constructor", image: "x", ports: [{ name: "valueof", containerPort: 1 }] }
  const env = names.map((name) => ({ name, value: "x" }))
  const labels = { constructor: "x", toString: "y" }
  const spec = (more: object = {}): object => ({
    containers: [
      { ...container, env },
      { name: "prototype", image: "y" },
    ],
    nodeSelector: { constructor: "x", valueOf: "y" },
    volumes: [{ name: "constructor", emptyDir: {} }],
    tolerations: [{ key: "constructor", operator: "Exists" }],
    ...more,
  })
  const deployment = (more: object = {}, own: object = {}): Json =>
    ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a" },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: spec(more) },
        ...own,
      },
    }) as Json
  const merge = (label: string, pod: object): RequestStep =>
    patch(`${deployments}/a`, strategicPatch, { spec: { template: { spec: pod } } } as Json, {
      label: `PATCH ${label}`,
    })
  const amounts = (name: string): object => ({
    containers: [{ ...container, resources: { requests: one(name, "1") } }],
  })
  const pod = (limits: object, resources?: object): Json => {
    const holding = { ...container, resources: { limits } }
    const sidecar = { ...holding, name: "b", restartPolicy: "Always" }
    const whole = resources === undefined ? {} : { resources }
    return { metadata: { name: "a" }, spec: { containers: [holding], initContainers: [sidecar], ...whole } } as Json
  }
  const quota = (name: string): Json => ({ metadata: { name: "a" }, spec: { hard: one(name, "1") } })
  return [
    post(deployments, deployment()),
    merge("a container", { containers: [{ name: "constructor", image: "z" }] }),
    merge("a new container", { containers: [{ name: "tostring", image: "z" }] }),
    merge("a container away", { containers: [{ name: "prototype", $patch: "delete" }] }),
    merge("variables", { containers: [{ name: "constructor", env: env.map(({ name }) => ({ name, value: "z" })) }] }),
    merge("variables away", {
      containers: [{ name: "constructor", env: env.map(({ name }) => ({ name, $patch: "delete" })) }],
    }),
    merge("a selector away", { nodeSelector: one("constructor", null) }),
    patch(`${deployments}/a?fieldManager=x&force=true`, applyPatch, deployment(), { label: "APPLY" }),
    patch(`${deployments}/a?fieldManager=x&force=true`, applyPatch, deployment({ nodeSelector: null, volumes: [] }), {
      label: "APPLY less",
    }),
    ...names.map((name) =>
      post(`${deployments}${dryRun}`, deployment(amounts(name)), { label: `POST amounts of ${name}` }),
    ),
    ...names.flatMap((name) => [
      post(`/api/v1/namespaces/@{ns}/pods${dryRun}`, pod(one(name, "0")), { label: `POST a pod's amounts of ${name}` }),
      post(`/api/v1/namespaces/@{ns}/pods${dryRun}`, pod(one(name, "1"), { limits: one(name, "2"), requests: {} }), {
        label: `POST a whole pod's amounts of ${name}`,
      }),
    ]),
    ...names.map((name) =>
      post(`/api/v1/namespaces/@{ns}/resourcequotas${dryRun}`, quota(name), { label: `POST quota of ${name}` }),
    ),
    ...names.map((name) =>
      post(`/api/v1/namespaces/@{ns}/resourcequotas${dryRun}`, quota(`count/${name}`), {
        label: `POST quota of the count of ${name}`,
      }),
    ),
    get(`${deployments}/a`),
  ]
}
