// Every parameter of list, on ConfigMaps of one namespace.

import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { asMetadataList, asTable } from "../generate/life-scenarios.ts"

export const path = "/api/v1/namespaces/@{ns}/configmaps"

export const some: readonly RequestStep[] = ["a", "b", "c", "d", "e"].map((name, index) =>
  post(
    path,
    { metadata: { name, labels: { name, even: String(index % 2 === 0), index: String(index) } }, data: { a: name } },
    { save: name },
  ),
)

const query = (text: string): RequestStep => get(`${path}?${text}`)

const labelSelectors = [
  "name=a",
  "name==a",
  "name!=a",
  "name in (a,b)",
  "name notin (a,b)",
  "name",
  "!name",
  "name,even=true",
  "index>2",
  "index<2",
  "absent!=x",
  "name in ()",
  "name in (a",
  "a in b",
  "=x",
  "name=bad value!",
  "bad key!=x",
  "name=a,,even=true",
  ",",
  "name=a;b",
  "x/y/z=a",
]
const clusterKinds = [
  "/api/v1/nodes",
  "/api/v1/namespaces",
  "/api/v1/persistentvolumes",
  "/apis/certificates.k8s.io/v1/certificatesigningrequests",
  "/apis/resource.k8s.io/v1/resourceslices",
  "/apis/storage.k8s.io/v1/storageclasses",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/apiregistration.k8s.io/v1/apiservices",
]

function byFieldsOfAll(path: string): RequestStep[] {
  return ["metadata.name", "metadata.namespace", "metadata.uid"].map((field) =>
    get(`${path}?fieldSelector=${field}%3Dnone`),
  )
}

const fieldSelectors = [
  "metadata.name=a",
  "metadata.name==a",
  "metadata.name!=a",
  "metadata.namespace=@{ns}",
  "metadata.namespace=other",
  "metadata.name=a,metadata.namespace=@{ns}",
  "metadata.uid=x",
  "data.a=a",
  "metadata.name",
  "metadata.name>a",
  "=a",
  "=",
  "!=,metadata.name=a",
  "metadata.name=a\\,b",
  "metadata.name in (a)",
]

const exact = "@{a.metadata.resourceVersion}"

const parameters = [
  "limit=2",
  "limit=0",
  "limit=-1",
  "limit=abc",
  "limit=2&labelSelector=even%3Dtrue",
  "limit=2&resourceVersion=0",
  "limit=2&resourceVersion=0&resourceVersionMatch=NotOlderThan",
  "resourceVersion=0",
  "resourceVersion=abc",
  "resourceVersion=-1",
  "resourceVersion=99999999999",
  "resourceVersion=99999999999&resourceVersionMatch=Exact",
  `resourceVersion=${exact}&resourceVersionMatch=NotOlderThan`,
  `resourceVersion=${exact}&resourceVersionMatch=Exact`,
  `resourceVersion=${exact}&resourceVersionMatch=Bogus`,
  "resourceVersionMatch=Exact",
  "resourceVersionMatch=NotOlderThan",
  "resourceVersion=0&resourceVersionMatch=Exact",
  "continue=bogus",
  "continue=bogus&resourceVersion=5",
  "timeoutSeconds=5",
  "timeoutSeconds=abc",
  "pretty=true&limit=1",
  "allowWatchBookmarks=true",
  "sendInitialEvents=true",
  "watch=false",
  "bogus=1",
  "limit=1&limit=2",
]

export function listCases(): Scenario[] {
  return [
    { name: "a list takes every label selector", steps: [...some, ...labelSelectors.map(byLabel)] },
    { name: "a list takes every field selector", steps: [...some, ...fieldSelectors.map(byField)] },
    { name: "kinds of the cluster are selected by fields", steps: clusterKinds.flatMap(byFieldsOfAll) },
    { name: "a list takes every parameter", steps: [...some, ...parameters.map(query)] },
    { name: "a list comes in pages over a store that moves", steps: pages() },
    { name: "events come in pages at any revision", steps: eventPages() },
    { name: "a list of one object by its name takes a limit and a revision", steps: singles() },
    { name: "a collection is deleted by selector and in every way", steps: collectionDeletes() },
  ]
}

function byLabel(selector: string): RequestStep {
  return get(`${path}?labelSelector=${encodeURIComponent(selector)}`, { label: `LIST labelSelector ${selector}` })
}

function byField(selector: string): RequestStep {
  const encoded = encodeURIComponent(selector).replaceAll("%40%7Bns%7D", "@{ns}")
  return get(`${path}?fieldSelector=${encoded}`, { label: `LIST fieldSelector ${selector}` })
}

function pages(): RequestStep[] {
  const next = (save: string, from: string, more = ""): RequestStep =>
    get(`${path}?limit=2&continue=@{${from}.metadata.continue}${more}`, { save, label: `LIST after ${from}${more}` })
  return [
    ...some,
    get(`${path}?limit=2`, { save: "one", label: "LIST first page" }),
    post(path, { metadata: { name: "aa" } }),
    remove(`${path}/e`),
    patch(`${path}/d`, mergePatch, { data: { a: "changed" } }),
    next("two", "one"),
    next("three", "two"),
    next("again", "one", "&labelSelector=even%3Dtrue"),
    get(`${path}?limit=2&continue=@{one.metadata.continue}&resourceVersion=7`, { label: "LIST second page, revision" }),
    get(`${path}?limit=2&continue=@{one.metadata.continue}&resourceVersion=0`, {
      label: "LIST the rest, any revision",
    }),
    get(`${path}?limit=2&continue=@{one.metadata.continue}`, { headers: asTable, label: "LIST second page, table" }),
    get(`${path}?limit=2`, { headers: asMetadataList, label: "LIST first page, metadata" }),
    get(`${path}?limit=500`, { label: "LIST one page" }),
  ]
}

/** Other lists are complete at any revision. */
function eventPages(): RequestStep[] {
  const paths = ["/api/v1/namespaces/@{ns}/events", "/apis/events.k8s.io/v1/namespaces/@{ns}/events"]
  return [
    ...["a", "b"].map((name) =>
      post("/api/v1/namespaces/@{ns}/events", { metadata: { name }, involvedObject: { namespace: "@{ns}" } }),
    ),
    ...paths.flatMap((events) => [
      get(`${events}?limit=1&resourceVersion=0`, { save: "page" }),
      get(`${events}?limit=1&resourceVersion=0&resourceVersionMatch=NotOlderThan`),
      get(`${events}?limit=1&continue=@{page.metadata.continue}`),
      get(`${events}?limit=1&continue=@{page.metadata.continue}&resourceVersion=0`),
    ]),
  ]
}

function collectionDeletes(): RequestStep[] {
  return [
    ...some,
    remove(`${path}?labelSelector=even%3Dtrue&dryRun=All`),
    remove(`${path}?fieldSelector=metadata.name%3Da`),
    remove(`${path}?labelSelector=bad%20key!`),
    remove(path, { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Bogus" }),
    remove(path, { kind: "Bogus", apiVersion: "v1" }),
    remove(path, { preconditions: { uid: "x" } }),
    get(path),
    remove(`${path}?limit=1`),
    get(path),
    remove(`${path}?continue=e30&resourceVersion=${exact}`),
    remove(`${path}?continue=bogus&resourceVersion=${exact}&limit=1`),
  ]
}

/** With a limit a revision is exact, but the state of a single object is never older than it. */
function singles(): RequestStep[] {
  const events = "/api/v1/namespaces/@{ns}/events"
  const selections = ["fieldSelector=metadata.name%3Df", "fieldSelector=metadata.name%3Df,metadata.namespace%3D@{ns}"]
  const older = `resourceVersion=${exact}`
  return [
    ...some,
    post(path, { metadata: { name: "f" }, data: { a: "b" } }),
    post(events, { metadata: { name: "f" }, involvedObject: { namespace: "@{ns}" } }),
    ...[path, events, "/api/v1/configmaps"].flatMap((from) =>
      selections
        .filter((selection) => from !== "/api/v1/configmaps" || selection.includes("namespace"))
        .flatMap((selection) => [
          get(`${from}?${selection}&${older}`),
          get(`${from}?${selection}&${older}&limit=1`),
          get(`${from}?${selection}&${older}&limit=1&resourceVersionMatch=Exact`),
          get(`${from}?${selection}&${older}&limit=1&resourceVersionMatch=NotOlderThan`),
        ]),
    ),
    // The revision is also a precondition of each deletion.
    remove(`${path}?${selections[0]}&${older}&dryRun=All`),
    remove(`${path}?${selections[0]}&${older}&limit=1&dryRun=All`),
    remove(`${path}?${selections[0]}&${older}&resourceVersionMatch=Exact&dryRun=All`),
    remove(`${path}?labelSelector=!even&${older}&dryRun=All`),
    remove(`${path}?${selections[0]}&${older}`, {}),
  ]
}
