// Parameters that are wrong for what they were sent with, or several of them at once: which fault is told, and how.

import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  withQuery,
} from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const maps = `${core}/configmaps`
const asTable = { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } }

export function optionFaultCases(): Scenario[] {
  return [
    { name: "several delete options are wrong", steps: deletions() },
    { name: "a body is too long, and options are wrong", steps: longBodies() },
    { name: "the path of a watch takes the options of a list", steps: watchPaths() },
    { name: "a table that cannot be is refused after a delete", steps: tables() },
    { name: "connections are not opened dry", steps: connections() },
    { name: "targets name no resource", steps: targets() },
    { name: "new finalizers of an object that is being deleted", steps: finalizers() },
    { name: "timeouts are none, or too long for 64 bits", steps: timeouts() },
  ]
}

function deletions(): RequestStep[] {
  const wrong = "dryRun=x&propagationPolicy=y"
  const body = { dryRun: ["x"], propagationPolicy: "y", orphanDependents: true }
  return [
    post(maps, { metadata: { name: "a" } }),
    ...[`${maps}/a`, maps].flatMap((path) => [
      remove(`${path}?${wrong}`),
      remove(`${path}?${wrong}&orphanDependents=true`),
      remove(path, body, { label: `DELETE ${path} with a body` }),
    ]),
  ]
}

/** The body is read first, but not before what is said of its type and that of the answer. */
function longBodies(): RequestStep[] {
  const text = `{"metadata":{"name":"a"},"data":{"a":"${"x".repeat(3 * 1024 * 1024)}"}}`
  const wrong = "dryRun=x&fieldManager=%00"
  const people = { headers: { accept: "text/html" } }
  return [
    post(`${maps}?${wrong}`, text, { label: "POST" }),
    post(`${maps}?${wrong}`, text, { contentType: "text/plain", label: "POST as text" }),
    post(`${maps}?${wrong}`, text, { ...people, label: "POST for people" }),
    put(`${maps}/a?${wrong}`, text, { label: "PUT" }),
    put(`${maps}/a?${wrong}`, text, { contentType: "text/plain", label: "PUT as text" }),
    patch(`${maps}/a?${wrong}`, mergePatch, text, { label: "PATCH" }),
    patch(`${maps}/a?dryRun=x`, applyPatch, text, { label: "APPLY" }),
    remove(`${maps}/a?${wrong}`, text, { label: "DELETE" }),
    remove(`${maps}?limit=x`, text, { label: "DELETE all" }),
  ]
}

function watchPaths(): RequestStep[] {
  const queries = [
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
    "sendInitialEvents=false",
    "resourceVersionMatch=NotOlderThan",
    "resourceVersionMatch=NotOlderThan&resourceVersion=0",
    "resourceVersionMatch=Exact&resourceVersion=0",
    "resourceVersionMatch=x&resourceVersion=1&continue=y",
    "resourceVersionMatch=NotOlderThan&watch=true",
    "resourceVersionMatch=NotOlderThan&watch=false",
    "resourceVersionMatch=NotOlderThan&labelSelector=(",
    // The name in the path, which these may only repeat, is looked at last.
    ...[
      "metadata.name=a",
      "metadata.name=b",
      "metadata.name!=a",
      "metadata.name=a,metadata.name=b",
      "=",
      "=a",
      "x=a",
    ].flatMap((selector) =>
      ["", "&labelSelector=("].map((more) => `fieldSelector=${encodeURIComponent(selector)}${more}`),
    ),
  ]
  const paths = ["configmaps", "configmaps/a"].map((end) => `/api/v1/watch/namespaces/@{ns}/${end}`)
  return [
    post(maps, { metadata: { name: "a" } }),
    ...paths.flatMap((path) => queries.map((query) => get(`${path}?timeoutSeconds=1&${query}`))),
  ]
}

function tables(): RequestStep[] {
  return [
    post(maps, { metadata: { name: "a" } }),
    remove(`${maps}/a?includeObject=Bogus`, undefined, asTable),
    get(`${maps}/a`),
    post(`${maps}?includeObject=Bogus`, { metadata: { name: "b" } }, asTable),
    patch(`${maps}/b?includeObject=Bogus`, mergePatch, { data: { a: "b" } }, asTable),
    remove(`${maps}?includeObject=Bogus`, undefined, asTable),
    get(maps),
  ]
}

function connections(): RequestStep[] {
  const paths = [
    ...["exec", "attach", "portforward", "proxy", "log"].map((name) => `${core}/pods/a/${name}`),
    `${core}/services/a/proxy`,
    "/api/v1/nodes/none/proxy",
    `${core}/pods//exec`,
  ]
  return paths.flatMap((path) => ["dryRun=All", "dryRun="].map((query) => get(`${path}?${query}`)))
}

function targets(): RequestStep[] {
  const ends = ["watch", "watch/", "watch?a=b&c=<d>", "proxy", "%77atch?x=%22", "watch??"]
  return ["/api/v1", "/apis/apps/v1", "/apis/none/v1"].flatMap((path) => ends.map((end) => get(`${path}/${end}`)))
}

function finalizers(): RequestStep[] {
  const set = (list: string[]): RequestStep =>
    patch(`${maps}/a`, mergePatch, { metadata: { finalizers: list } }, { label: `PATCH ${JSON.stringify(list)}` })
  return [
    post(maps, { metadata: { name: "a", finalizers: ["example.com/a"] } }),
    set(["example.com/a", "word"]),
    remove(`${maps}/a`),
    ...[["word"], ["example.com/b"], ["orphan", "foregroundDeletion", "word"], ["a b"], []].map(set),
  ]
}

function timeouts(): RequestStep[] {
  const times = ["2562047h", "2562048h", "-2562048h", "9223372036s", "9223372037s", "1ns9223372037s", "1e3s"]
  // It is looked at before anybody is known.
  const strangers = [{ authorization: "Bearer none" }, { "impersonate-user": "", "impersonate-group": "a" }]
  return [
    ...times.map((time) => get(`${maps}?timeout=${time}`)),
    ...strangers.flatMap((headers) =>
      [maps, `${maps}?watch=true`, "/healthz"].map((path) =>
        get(withQuery(path, "timeout=x"), { headers, label: `GET ${path} with ${JSON.stringify(headers)}` }),
      ),
    ),
  ]
}
