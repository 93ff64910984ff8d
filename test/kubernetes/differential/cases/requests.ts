// What a request says beside its body: methods, parameters that are odd, empty or given twice, escapes that are no UTF-8, who is
// impersonated, preconditions of deletes.

import type { Json } from "../../../../apimachinery/object.ts"
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
  watch,
  withQuery,
} from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const maps = `${core}/configmaps`
const one = `${maps}/a`
const map = (name: string, labels: Record<string, string> = {}): Json => ({ metadata: { name, labels } })
const dry = `${maps}?dryRun=All`

export function requestCases(): Scenario[] {
  return [
    { name: "connect subresources with every method", steps: connections() },
    { name: "options of a write are odd", steps: [post(maps, map("a")), ...writeOptions()] },
    { name: "options of a delete are odd", steps: [post(maps, map("a"), { save: "a" }), ...deletes()] },
    { name: "a collection is deleted by chosen revisions", steps: collections() },
    { name: "options of a list are odd", steps: [post(maps, map("a", { x: "a" })), ...lists()] },
    { name: "options of a watch are odd", steps: [post(maps, map("a"), { save: "a" }), ...watches()] },
    { name: "paths have bytes that are no UTF-8", steps: bytes() },
    { name: "somebody is impersonated in odd ways", steps: impersonated() },
    { name: "YAML is odd", steps: yaml() },
    { name: "there are many warnings, and long ones", steps: warnings() },
  ]
}

const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE"]

function connections(): RequestStep[] {
  const ofPods = ["log", "exec", "attach", "portforward", "proxy", "proxy/x", "eviction", "binding", "resize", "status"]
  const paths = [
    ...ofPods.map((name) => `${core}/pods/a/${name}`),
    `${core}/services/a/proxy`,
    `${core}/serviceaccounts/a/token`,
  ]
  return methods.flatMap((method) => paths.map((path) => ({ method, path })))
}

function writeOptions(): RequestStep[] {
  const managers = [
    "x".repeat(129),
    "%00",
    "a%0ab%0a",
    "%C3%A4",
    "%ff",
    "a%20b",
    "%C2%A0",
    "&fieldManager=y",
    "%0a".repeat(130),
  ]
  const dryRuns = ["", "all", "All,All", "All&dryRun=x", "x&dryRun=y", "All&dryRun=All"]
  const validations = ["", "strict", "Strict", "Strict&fieldValidation=Ignore", "&fieldValidation=Strict"]
  const applied = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "d" } })
  const unknown: Json = { metadata: { name: "d" }, bogus: 1 }
  return [
    ...managers.flatMap((name) => [
      post(`${dry}&fieldManager=${name}`, map("d")),
      patch(`${maps}/d?dryRun=All&fieldManager=${name}`, applyPatch, applied),
    ]),
    ...dryRuns.flatMap((value) => [
      post(`${maps}?dryRun=${value}`, map("a")),
      patch(`${one}?dryRun=${value}`, mergePatch, {}),
      patch(`${one}?dryRun=${value}&fieldManager=%00&force=true`, mergePatch, {}),
      patch(`${maps}/d?dryRun=${value}`, applyPatch, applied),
      remove(`${maps}/none?dryRun=${value}`),
    ]),
    ...validations.flatMap((value) => [
      post(`${dry}&fieldValidation=${value}`, unknown),
      put(`${maps}/d?dryRun=All&fieldValidation=${value}`, unknown),
    ]),
  ]
}

function deletes(): RequestStep[] {
  const queries = [
    "uid=x",
    "uid=",
    "resourceVersion=1",
    "resourceVersion=",
    "uid=@{a.metadata.uid}",
    "uid=&resourceVersion=1",
  ]
  const flags = ["", "1", "0", "true", "False", "x"]
  const documents = [
    ["[]", "null", "1", '{"kind":"Pod"}', '{"apiVersion":"v1"}', "{"],
    ['{"kind":"","apiVersion":"","dryRun":["All"]}', '{"apiVersion":"a/b/c","kind":"DeleteOptions"}'],
    ['{"preconditions":{"uid":""},"dryRun":["All"]}', '{"gracePeriodSeconds":1.5}', '{"orphanDependents":1}'],
  ].flat()
  const policies = ["Orphan", "orphan", "", "Foreground&propagationPolicy=x"]
  const invalidQueries = [
    ...queries,
    ...flags.map((flag) => `orphanDependents=${flag}`),
    ...flags.map((flag) => `ignoreStoreReadErrorWithClusterBreakingPotential=${flag}`),
    ...policies.map((policy) => `propagationPolicy=${policy}`),
    ...["-1", "x", "", "1.5", "9223372036854775808", "%2B1"].map((seconds) => `gracePeriodSeconds=${seconds}`),
  ]
  return [
    ...invalidQueries.map((query) => remove(`${one}?dryRun=All&${query}`)),
    ...queries.filter((query) => !query.endsWith("=1")).map((query) => remove(`${dry}&${query}`)),
    ...documents.flatMap((text) => [remove(one, text, { label: `DELETE ${text}` }), get(one), post(maps, map("a"))]),
  ]
}

function collections(): (RequestStep | ReturnType<typeof watch>)[] {
  return [
    post(maps, map("a", { x: "a" }), { save: "a" }),
    post(maps, map("b", { x: "b" })),
    remove(`${dry}&resourceVersion=@{a.metadata.resourceVersion}`),
    remove(`${dry}&resourceVersion=@{a.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`),
    remove(`${dry}&limit=1`),
    remove(`${dry}&limit=-1&labelSelector=x%3Da`),
    remove(`${dry}&watch=true&labelSelector=x%3Da`),
    remove(`${dry}&sendInitialEvents=true`),
    remove(`${maps}?limit=1`),
    get(maps),
    remove(`${maps}?timeoutSeconds=0&labelSelector=x%3Db`),
    get(maps),
  ]
}

const odd = [
  "-1",
  "",
  "x",
  "1.5",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551616",
  "%2B1",
  "00",
  "1e3",
  "%00",
]

/** Upstream takes a zero byte in a selector for its end, or for that of a word. */
const zeros = [
  ["%00", "%00%00", "%00x%3Db", "%20%00x%3Db", "x%00", "x%00%3Db", "x%3D%00b", "x%3Db%00", "x%3D%00%00b", "x%00y"],
  ["x%20in%00(%00b%00)%00", "!%00x%00,%00", "x%00%00%3Db", "x%3D%00", "x%3Da,%00y", "x%3D%00%3Da", "%01", "x%3D%01"],
].flat()

function lists(): RequestStep[] {
  // For those of the future upstream waits three seconds.
  const revisions = odd.filter((value) => !value.startsWith("9"))
  const twice = ["labelSelector=x%3Da&labelSelector=x%3Db", "limit=1&limit=x", "limit=&limit=2", "continue=&continue=x"]
  const tokens = [...odd, "%0a", "eyJ2IjoibWV0YS5rOHMuaW8vdjEi", "AAAA"]
  return [
    ...["timeoutSeconds", "limit"].flatMap((name) => odd.map((value) => get(`${maps}?${name}=${value}`))),
    ...revisions.flatMap((value) => [
      get(`${maps}?resourceVersion=${value}`),
      get(`${maps}?resourceVersionMatch=Exact&resourceVersion=${value}`),
      get(`${one}?resourceVersion=${value}`),
    ]),
    get(`${maps}?resourceVersion=9223372036854775808`),
    ...tokens.map((value) => get(`${maps}?continue=${value}`)),
    ...twice.map((query) => get(`${maps}?${query}`)),
    ...["%7f", "%C3%A4"].map((key) => get(`${maps}?labelSelector=${key}`)),
    ...zeros.map((selector) => get(`${maps}?labelSelector=${selector}`)),
    ...["application/json;sv=v1", "application/json;sv=v2", "application/json;sv="].map((accept) =>
      get(one, { headers: { accept }, label: `GET ${accept}` }),
    ),
  ]
}

function watches(): ReturnType<typeof watch>[] {
  const flags = ["", "true", "false", "x", "0"]
  return [
    ...["", "x", "1.5", "9223372036854775808", "-9223372036854775808"].map((value) =>
      watch(`${maps}?timeoutSeconds=${value}`),
    ),
    ...["", "0", "00", "x"].map((value) => watch(`${maps}?resourceVersion=${value}`)),
    ...flags.flatMap((flag) =>
      [`allowWatchBookmarks=${flag}`, `sendInitialEvents=${flag}`, `allowWatchBookmarks=${flag}&resourceVersion=0`].map(
        (query) => watch(withQuery(maps, query)),
      ),
    ),
    watch(`${maps}?continue=x`),
    watch(`${maps}?continue=x&resourceVersion=@{a.metadata.resourceVersion}`),
    ...["Exact", "NotOlderThan", "x"].flatMap((match) =>
      ["", "&sendInitialEvents=false"].map((more) => watch(`${maps}?continue=x&resourceVersionMatch=${match}${more}`)),
    ),
    watch(`/api/v1/watch/namespaces/@{ns}/configmaps?allowWatchBookmarks=true`),
  ]
}

function bytes(): RequestStep[] {
  const names = ["%ff", "%C3%28", "%ED%A0%80", "%F4%90%80%80", "%E2%82", "%C0%80", "a%ffb", "%00", "%0a"]
  const paths = [
    ["/api/v1/namespaces/@/configmaps", "/api/v1/namespaces/@", "/apis/@/v1/x", "/apis/@/v1", "/@", "/healthz/@"],
    ["/api/v1/@", "/openapi/v3/@", "/api/v1/@/x/y", "/apis/rbac.authorization.k8s.io/v1/clusterroles/@"],
    [`${maps}/@`, `${maps}/a/@`, `${core}/pods/@/log`],
  ].flat()
  return names.flatMap((name) => [
    ...paths.map((path) => get(path.replace(/@(?!\{)/, name))),
    put(`${maps}/${name}`, map("a")),
    patch(`${maps}/${name}`, mergePatch, {}),
    remove(`${maps}/${name}`),
  ])
}

function impersonated(): RequestStep[] {
  const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
  const more: Record<string, string>[] = [
    { "impersonate-uid": "u" },
    { "impersonate-uid": "ä" },
    { "impersonate-extra-a": "b" },
    { "impersonate-extra-a%2fb": "b" },
    { "impersonate-extra-": "x" },
    { "impersonate-extra-%zz": "v" },
    { "impersonate-foo": "x" },
    { "impersonate-extra-a": "", "impersonate-uid": "x y" },
  ]
  const account = "system:serviceaccount:a:b"
  const users = [
    ...[
      "system:anonymous",
      account,
      "system:serviceaccount:a",
      "system:serviceaccount:A:b",
      `${account}:c`,
      "ä",
      " x ",
    ].map((name) => ({ name })),
    { name: account, groups: ["x"] },
    { name: "system:anonymous", groups: ["x"] },
    { name: "x", groups: ["system:unauthenticated"] },
    { name: "x", groups: ["", "a", "a"] },
  ]
  return [
    ...more.flatMap((headers) => [
      post(reviews, {}, { headers, label: `WHO ${JSON.stringify(headers)}` }),
      get(maps, { headers, as: { name: "nobody" }, label: `LIST ${JSON.stringify(headers)}` }),
    ]),
    ...users.map((as) => post(reviews, {}, { as, label: `WHO ${JSON.stringify(as)}` })),
  ]
}

function yaml(): RequestStep[] {
  const texts = [
    ["-", "- ", "-\na: b", "--- -", "a: -", "a:\n -", "a: - b", "data:\n  a: -\n", "a: [ - ]", "- a\nb: c"],
    ["?", "? a", ":", ": a", "a: ?", "null: a", "[a]: b", "{a: b}: c", "? [a]\n: b", "<<: a", "1: a", "true: a"],
    ["| a", "a: 'b' c", "a:\n- b\nc", "a: b\nc", "a: [,]", "a: {,}", 'a: "\\u00"', 'a: "\\', "a: \u0001", "a: \u007f"],
    ["a: .inf", "a: .nan", "a: y", "a: 017", "a: 1:30", "a: 2001-01-01", "a: !!binary YQ==", "a: =", "a: \u0085"],
  ].flat()
  return texts.flatMap((text) => {
    const label = JSON.stringify(text)
    return [
      post(dry, text, { contentType: "application/yaml", label: `POST ${label}` }),
      patch(`${maps}/x?dryRun=All&fieldManager=m`, applyPatch, text, { label: `APPLY ${label}` }),
    ]
  })
}

function warnings(): RequestStep[] {
  const long = "x".repeat(300)
  const unknown: Record<string, string[]> = {
    "13 long": Array.from({ length: 13 }, (_, index) => `${long}${index}`),
    "40 long": Array.from({ length: 40 }, (_, index) => `${long}${index}`),
    "200 short": Array.from({ length: 200 }, (_, index) => `f${index}`),
    "one of 5000": ["y".repeat(5000)],
    "short, then long": ["a", "b", "y".repeat(4090), "c"],
    odd: ['ä\u{1f600}"\\\n\t'.repeat(100)],
  }
  return Object.entries(unknown).map(([what, names]) => {
    const fields = Object.fromEntries(names.map((name) => [name, 1]))
    return post(dry, { metadata: { name: "a" }, ...fields }, { label: `POST with ${what}` })
  })
}
