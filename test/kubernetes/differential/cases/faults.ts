// Which of several errors is reported, and the errors about nothing at all.

import type { Json } from "../../../../apimachinery/object.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const maps = `${core}/configmaps`
const events = [`${core}/events`, "/apis/events.k8s.io/v1/namespaces/@{ns}/events"]

export function faultCases(): Scenario[] {
  return [
    { name: "the first of several errors is reported", steps: orders() },
    { name: "of a collection's deletion the choice is looked at first", steps: deletions() },
    { name: "an object is read at a revision that is none", steps: revisions() },
    { name: "a table of nothing", steps: tables() },
    { name: "a status has the forms its kind's status has", steps: statuses() },
    { name: "a body is not quite JSON", steps: texts() },
    { name: "what is wrong is not there", anyOrder: true, steps: absent() },
    { name: "a namespace is deleted in its own way", steps: namespaceDeletions() },
    { name: "a definition is deleted in its own way", steps: definitionDeletions() },
    { name: "collisions are counted up", steps: collisions() },
    { name: "a pod's status keeps the generation it is of", steps: generations() },
    { name: "what may be chosen is not fit for HTML", steps: choices() },
    { name: "where something must be there is a list of nothing", steps: emptyLists() },
  ]
}

function orders(): RequestStep[] {
  const plain = { contentType: "text/plain" }
  const people = { headers: { accept: "text/plain" } }
  const manager = `fieldManager=${"x".repeat(200)}`
  return [
    post(`${maps}?dryRun=bogus`, "x", { ...plain, label: "POST type, dryRun" }),
    post(`${maps}?fieldValidation=bogus`, "x", { ...plain, label: "POST type, validation" }),
    post(`${maps}?${manager}`, "{", { label: "POST manager, text" }),
    post(`${maps}?dryRun=bogus`, "{", { label: "POST dryRun, text" }),
    post(maps, "{", { ...people, ...plain, label: "POST accept, type" }),
    post(`${maps}?dryRun=bogus`, "{", { ...people, label: "POST accept, dryRun" }),
    put(`${maps}/nope?dryRun=bogus`, "{", { ...plain, label: "PUT type, dryRun" }),
    put(`${maps}/nope?dryRun=bogus`, "{", { label: "PUT dryRun, text" }),
    put(`${maps}/nope`, "{", { label: "PUT missing, text" }),
    patch(`${maps}/nope?dryRun=bogus`, "text/plain", "{", { label: "PATCH type, dryRun" }),
    patch(`${maps}/nope?force=bogus`, mergePatch, "{", { label: "PATCH missing, text, force" }),
    patch(`${maps}/nope?${manager}`, mergePatch, "{", { label: "PATCH text, manager" }),
    patch(`${maps}/nope`, mergePatch, "{", { label: "PATCH missing, text" }),
    patch(`${maps}/nope?fieldManager=a`, applyPatch, "{", { label: "APPLY text" }),
    patch(`${maps}/nope`, applyPatch, "{", { label: "APPLY text, no manager" }),
    remove(`${maps}/nope?dryRun=bogus`, "{", { label: "DELETE text, dryRun" }),
    remove(`${maps}/nope`, "{", { ...plain, label: "DELETE type" }),
    remove(`${maps}?limit=bogus`, "{", { label: "DELETE all, text, limit" }),
    get(`${maps}?limit=bogus`, { ...people, label: "LIST accept, limit" }),
    get(`${maps}?fieldSelector=bogus`, { ...people, label: "LIST accept, selector" }),
    get(`${maps}/nope?resourceVersion=bogus`, { ...people, label: "GET accept, revision" }),
  ]
}

function deletions(): RequestStep[] {
  const choices = [
    "labelSelector=,,%3D",
    "fieldSelector=x%3D1",
    "fieldSelector=x",
    "fieldSelector=x%3D1&labelSelector=,,%3D",
    "resourceVersionMatch=Exact",
    "continue=x",
    "resourceVersion=x",
    "sendInitialEvents=true",
  ]
  const bodies = [undefined, "{", '{"kind":"Pod"}', '{"propagationPolicy":"x"}', '{"dryRun":["x"]}']
  return [maps, `${core}/pods`].flatMap((path) =>
    choices.flatMap((choice) => [
      remove(`${path}?${choice}&dryRun=x`),
      ...bodies.map((body) => remove(`${path}?${choice}`, body, { label: `DELETE ${path}?${choice} ${body}` })),
    ]),
  )
}

function revisions(): RequestStep[] {
  const invalidRevisions = ["bogus", "-1", "1.5", "99999999999999999999", "0x1"]
  return [...events, maps].flatMap((path) =>
    invalidRevisions.flatMap((revision) => [
      get(`${path}?resourceVersion=${revision}`),
      get(`${path}/x?resourceVersion=${revision}`),
      get(`${path}?resourceVersion=${revision}&resourceVersionMatch=Exact`),
    ]),
  )
}

function tables(): RequestStep[] {
  const paths = [
    ...["limitranges", "configmaps", "pods"].map((resource) => `${core}/${resource}`),
    "/apis/rbac.authorization.k8s.io/v1/namespaces/@{ns}/roles",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/storage.k8s.io/v1/namespaces/@{ns}/csistoragecapacities",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/apiregistration.k8s.io/v1/apiservices",
  ]
  return paths.map((path) => get(`${path}?labelSelector=none%3Dof-them`, { headers: asTable }))
}

function statuses(): RequestStep[] {
  const services = "/apis/apiregistration.k8s.io/v1/apiservices"
  const claims = "/apis/resource.k8s.io/v1/namespaces/@{ns}/resourceclaims"
  const paths = [
    ...["v1.apps", "nope"].map((name) => `${services}/${name}/status`),
    `${claims}/a/status`,
    `${claims}/a`,
    "/api/v1/namespaces/@{ns}/status",
  ]
  return [
    post(claims, { metadata: { name: "a" }, spec: {} }),
    ...paths.map((path) => get(path, { headers: asTable })),
    get(`${claims}/a/status`, {
      headers: { accept: `${asTable.accept},application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io` },
      label: "GET a claim's status as a table or as metadata",
    }),
  ]
}

function texts(): RequestStep[] {
  const named = (more: string): string => `{"metadata":{"name":"a"}${more}}`
  const bodies = [
    `\ufeff${named("")}`,
    "",
    "   ",
    "null",
    "[]",
    "true",
    '"x"',
    named(","),
    `{/**/${named("").slice(1)}`,
    named(',"data":{"a":"\n"}'),
    named(',"data":{"a":"\\x"}'),
    named(',"data":{"a":null}'),
    named(',"Data":{"a":"b"}'),
    named(',"immutable":"true"'),
    ...["1e3", "1.0", "-0", "9223372036854775808", "NaN", "01", "+1", "0x1"].map(
      (number) => `{"metadata":{"name":"a","generation":${number}}}`,
    ),
    '{"metadata":{"name":"a","name":"b"}}',
    '{"metadata":{"name":"a","finalizers":[null]}}',
    '{"metadata":{"name":"a","ownerReferences":[null]}}',
    '{"metadata":{"name":"a","creationTimestamp":5}}',
    '{"metadata":{"name":"a","creationTimestamp":""}}',
  ]
  return bodies.map((body, index) => post(`${maps}?dryRun=All`, body, { label: `POST ${index} ${body}` }))
}

function generations(): RequestStep[] {
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "x" }] } }
  const status = (observedGeneration?: number): RequestStep =>
    put(
      `${core}/pods/p/status`,
      { ...pod, status: { phase: "Running", ...(observedGeneration === undefined ? {} : { observedGeneration }) } },
      { label: `PUT ${observedGeneration}` },
    )
  return [post(`${core}/pods`, pod), status(), status(5), status(), status(0), status(3), get(`${core}/pods/p`)]
}

function absent(): RequestStep[] {
  const dry = "?dryRun=All"
  const container = { image: "x" }
  const never = { restartPolicy: "Never", containers: [{ ...container, name: "a", resizePolicy: [{}] }] }
  const expressions = [{ operator: "DoesNotExist" }, { scopeName: "PriorityClass" }]
  const template = (metadata: object): Json => ({ metadata: { name: "a" }, spec: { metadata, spec: {} } }) as Json
  const metadata = [{ uid: "x" }, { selfLink: "x" }]
  return [
    post(`${core}/pods${dry}`, { metadata: { name: "a" }, spec: { containers: [container, container] } }),
    post(`${core}/pods${dry}`, { metadata: { name: "a" }, spec: never }),
    post(`${core}/limitranges${dry}`, { metadata: { name: "a" }, spec: { limits: [{}, {}] } }),
    ...expressions.map((expression) =>
      post(`${core}/resourcequotas${dry}`, {
        metadata: { name: "a" },
        spec: { scopeSelector: { matchExpressions: [expression] } },
      } as Json),
    ),
    ...metadata.map((given) =>
      post(`/apis/resource.k8s.io/v1/namespaces/@{ns}/resourceclaimtemplates${dry}`, template(given), {
        label: `POST template ${JSON.stringify(given)}`,
      }),
    ),
    post(`/apis/apiregistration.k8s.io/v1/apiservices${dry}`, {
      metadata: { name: "v1.a" },
      spec: { group: "a\u0000b", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 },
    }),
  ]
}

const ways = [
  "",
  "propagationPolicy=Orphan",
  "propagationPolicy=Foreground",
  "orphanDependents=true",
  "orphanDependents=false",
]

function namespaceDeletions(): RequestStep[] {
  const path = "/api/v1/namespaces"
  return [
    post(path, { metadata: { name: "d-@{id}" } }),
    ...ways.map((way) => remove(`${path}/d-@{id}?dryRun=All&${way}`)),
    remove(`${path}/d-@{id}`),
  ]
}

function definitionDeletions(): RequestStep[] {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  const name = "things.d@{id}.example.com"
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }]
  const names = { plural: "things", kind: "Thing" }
  return [
    post(path, { metadata: { name }, spec: { group: "d@{id}.example.com", scope: "Namespaced", names, versions } }),
    ...ways.map((way) => remove(`${path}/${name}?dryRun=All&${way}`)),
    remove(`${path}/${name}`),
  ]
}

function collisions(): RequestStep[] {
  return ["deployments", "daemonsets", "statefulsets"].flatMap((resource) => {
    const path = `/apis/apps/v1/namespaces/@{ns}/${resource}`
    const labels = { app: "a" }
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "x" }] } }
    const status = (of: object): RequestStep =>
      patch(`${path}/a/status`, mergePatch, { status: of } as Json, {
        label: `PATCH ${resource} ${JSON.stringify(of)}`,
      })
    return [
      post(path, { metadata: { name: "a" }, spec: { selector: { matchLabels: labels }, template } }),
      ...[{ collisionCount: 2 }, { collisionCount: 1 }, { collisionCount: null }, { collisionCount: -1 }].map(status),
    ]
  })
}

function choices(): RequestStep[] {
  const words = ["<a>&", "a\u0000b", "\u2028", "\u007f", "ü\t"]
  const service = (word: string): Json => ({ metadata: { name: "a" }, spec: { type: word, ports: [{ port: 80 }] } })
  const pod = (word: string): Json => ({
    metadata: { name: "a" },
    spec: {
      restartPolicy: word,
      dnsPolicy: word,
      containers: [
        {
          name: "a",
          image: "x",
          imagePullPolicy: word,
          env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: word } } }],
        },
      ],
    },
  })
  const claim = (word: string): Json => ({
    metadata: { name: "a" },
    spec: { accessModes: [word], volumeMode: word, resources: { requests: { storage: "1" } } },
  })
  const policy = (word: string): Json => ({
    metadata: { name: "a-@{id}" },
    webhooks: [{ name: "a.b.c", failurePolicy: word, matchPolicy: word, sideEffects: word, clientConfig: {} }],
  })
  const binding = (word: string): Json => ({
    metadata: { name: "a" },
    roleRef: { kind: word, apiGroup: word },
    subjects: [{ kind: word, apiGroup: word }],
  })
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
  const bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/@{ns}/rolebindings"
  return words.flatMap((word) => [
    post(`${core}/services?dryRun=All`, service(word)),
    post(`${core}/pods?dryRun=All`, pod(word)),
    post(`${core}/persistentvolumeclaims?dryRun=All`, claim(word)),
    post(`${path}?dryRun=All`, policy(word)),
    post(`${bindings}?dryRun=All`, binding(word)),
  ])
}

function emptyLists(): RequestStep[] {
  const networking = "/apis/networking.k8s.io/v1/namespaces/@{ns}"
  const metadata = { name: "a" }
  const specs: [string, Record<string, Json>[]][] = [
    [`${networking}/ingresses`, [{}, { rules: [] }, { rules: null }, { rules: [{ http: { paths: [] } }] }]],
    [`${core}/pods`, [{ containers: [] }, { containers: null }, { containers: [], initContainers: [] }]],
    [`${core}/services`, [{ ports: [] }, { ports: null, externalIPs: [] }]],
    [`${core}/persistentvolumeclaims`, [{ accessModes: [] }, { accessModes: [], resources: {} }]],
  ]
  return specs.flatMap(([path, all]) =>
    all.map((spec) =>
      post(`${path}?dryRun=All`, { metadata, spec }, { label: `POST ${path} ${JSON.stringify(spec)}` }),
    ),
  )
}
