// Texts of parameters and fields that Go reads letter by letter, and refuses at the first one that it cannot take: the numbers, times,
// tokens and revisions of a request.

import { asTable } from "../generate/life-scenarios.ts"
import {
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const maps = `${core}/configmaps`
const apps = "/apis/apps/v1/namespaces/@{ns}"

export function firstFaultCases(): Scenario[] {
  return [
    { name: "parameters are wrong after a part that is too large", steps: parameters() },
    { name: "an update has a revision in any form", steps: revisions() },
    { name: "a patch repeats fields of what is kept as it came", steps: raw() },
    { name: "the body of a delete cannot be read", steps: deletions() },
    { name: "a deployment that is to be rolled back is shown in a table", steps: rollback() },
  ]
}

const numbers = [
  "65535",
  "65536",
  "65536x",
  "6553x",
  "000000000000000000000000001",
  "18446744073709551615x",
  "18446744073709551616x",
  "-9223372036854775808",
  "-9223372036854775809",
  "9223372036854775808x",
  "%2B1",
  "%2B",
  "1_000",
]
const durations = [
  "99999999999999999999",
  "9223372036854775807x",
  "9223372036854775809x",
  "300000000h1x",
  "1h300000000h",
  "1%7f",
  "%ff",
]
/** The first byte is beyond the letters that Go prints. */
const tokens = ["null", "None", "NotOlderThan", "oA", "rQ", "fw", "Jw", "Ig", "XA", "Bw"]

function parameters(): RequestStep[] {
  const pods = `${core}/pods`
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } }
  return [
    post(pods, pod),
    ...numbers.flatMap((number) => [
      get(`${pods}/p/portforward?ports=${number}`),
      ...["sinceSeconds", "tailLines", "limitBytes"].map((name) => get(`${pods}/p/log?${name}=${number}`)),
      get(`${maps}?resourceVersion=${number}&timeoutSeconds=1`),
      get(`${maps}?limit=${number}`),
    ]),
    ...durations.map((duration) => get(`${maps}?timeout=${duration}`)),
    ...["%ff", "2020-01-01T00:00:00Z%ff", "2020-01-01T00:00:00Z%22", "2020%7f"].map((time) =>
      get(`${pods}/p/log?sinceTime=${time}`),
    ),
    ...tokens.map((token) => get(`${maps}?continue=${token}`)),
  ]
}

function revisions(): RequestStep[] {
  const texts = ["00", "0x1", "1x", "+1", "-1", "1_0", "18446744073709551615", "18446744073709551616", "1e3", " 1"]
  const current = "@{map.metadata.resourceVersion}"
  const map = (resourceVersion: string, name = "a") => ({ metadata: { name, resourceVersion } })
  return [
    post(maps, { metadata: { name: "a" } }, { save: "map" }),
    ...[...texts, `${current}0`].flatMap((text) => [
      put(`${maps}/a?dryRun=All`, map(text), { label: `PUT ${text}` }),
      patch(`${maps}/a?dryRun=All`, mergePatch, map(text), { label: `PATCH ${text}` }),
      post(maps, map(text, "b"), { label: `POST ${text}` }),
      put(`${core}/serviceaccounts/none`, map(text, "none"), { label: `PUT of nothing ${text}` }),
      put("/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases/l?dryRun=All", map(text, "l"), {
        label: `PUT of a new one ${text}`,
      }),
    ]),
    // It is compared as a number.
    put(`${maps}/a`, map(`000${current}`)),
  ]
}

function raw(): RequestStep[] {
  const path = `${apps}/controllerrevisions`
  const texts = ['{"data":{"a":1,"a":2}}', '{"data":{"q":{"a":1,"a":1}},"revision":1,"revision":1}']
  return [
    post(path, { metadata: { name: "r" }, revision: 1, data: { a: 1 } }),
    ...texts.flatMap((text) =>
      ["Strict", "Warn", "Ignore"].flatMap((validation) =>
        [mergePatch, strategicPatch].map((type) =>
          patch(`${path}/r?fieldValidation=${validation}`, type, text, { label: `${validation} ${type} ${text}` }),
        ),
      ),
    ),
  ]
}

function deletions(): RequestStep[] {
  const texts = [
    "{",
    "[]",
    "\0",
    "k8s\0",
    "k8s\0x",
    "{}\n---\n{",
    "a: [",
    "apiVersion: a/b/c",
    '{"kind":5}',
    '{"apiVersion":"a/b/c (d"}',
  ]
  const types = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]
  return [
    post(maps, { metadata: { name: "a" } }),
    ...texts.flatMap((text) =>
      types.map((contentType) =>
        remove(`${maps}/a?dryRun=All`, text, { contentType, label: `${JSON.stringify(text)} as ${contentType}` }),
      ),
    ),
  ]
}

function rollback(): RequestStep[] {
  const path = `${apps}/deployments`
  const reduced = { headers: { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" } }
  const spec = {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  }
  const annotations = { "deprecated.deployment.rollback.to": "3", other: "x" }
  return [
    post(path, { metadata: { name: "d", annotations }, spec }, { headers: asTable }),
    ...[path, `${path}/d`].flatMap((at) => [
      get(at, { headers: asTable, label: `TABLE ${at}` }),
      get(`${at}?includeObject=Object`, { headers: asTable, label: `TABLE of whole ${at}` }),
      get(at, { ...reduced, label: `METADATA ${at}` }),
    ]),
  ]
}
