// Queries with bytes that are no UTF-8, and names with such bytes in writes and in paths of proxies: Go keeps them as they are, and quotes
// them in messages.

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
  type Step,
  watch,
} from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const maps = `${core}/configmaps`

export function queryByteCases(): Scenario[] {
  return [
    { name: "queries have bytes that are no UTF-8", steps: [post(maps, map("a")), ...texts.flatMap(queries)] },
    { name: "names in writes have bytes that are no UTF-8", steps: texts.flatMap(names) },
  ]
}

/** The last two are UTF-8. */
const texts = ["%ff", "%C3%28", "%ED%A0%80", "%F4%90%80%80", "%E2%82", "%C0%80", "a%ffb+%ff", "%00", "%EF%BF%BD"]

const map = (name: string): Json => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } })

const listParameters = [
  "labelSelector=",
  "labelSelector=a=",
  "labelSelector=a%20in%20(b,",
  "fieldSelector=",
  "fieldSelector=metadata.name=",
  "continue=",
  "resourceVersion=",
  "limit=",
  "timeoutSeconds=",
  "resourceVersionMatch=",
  "pretty=",
]
const writeParameters = ["fieldManager=", "dryRun=", "fieldValidation=", "force=", "timeout="]
const deleteParameters = ["propagationPolicy=", "gracePeriodSeconds=", "orphanDependents=", "dryRun="]

function queries(text: string): Step[] {
  return [
    ...listParameters.map((parameter) => get(`${maps}?${parameter}${text}`)),
    get(`${maps}?labelSelector=${text}=a`),
    get(`${maps}?${text}=a`),
    ...writeParameters.flatMap((parameter) => [
      post(`${maps}?${parameter}${text}`, map("d")),
      remove(`${maps}/d?${parameter}${text}`),
      patch(`${maps}/a?${parameter}${text}`, mergePatch, {}),
      patch(`${maps}/b?dryRun=All&${parameter}${text}`, applyPatch, map("b")),
    ]),
    ...deleteParameters.map((parameter) => remove(`${maps}/a?dryRun=All&${parameter}${text}`)),
    remove(`${maps}?dryRun=All&labelSelector=${text}`),
    get(`${core}/pods/a/log?container=${text}`),
    get(`/readyz?exclude=${text}`),
    ...["labelSelector", "fieldSelector", "resourceVersion"].map((name) => watch(`${maps}?${name}=${text}`)),
  ]
}

function names(text: string): RequestStep[] {
  return [
    post(`${maps}/${text}`, map("a")),
    put(`${maps}/${text}`, map("a")),
    patch(`${maps}/${text}?fieldManager=m`, applyPatch, map("a"), { label: `APPLY ${text}` }),
    patch(`/api/v1/namespaces/${text}/configmaps/a?fieldManager=m`, applyPatch, map("a"), {
      label: `APPLY in ${text}`,
    }),
    patch(`${maps}/${text}`, mergePatch, {}),
    remove(`${maps}/${text}`),
    post(`/api/v1/namespaces/${text}/configmaps`, map("a")),
    post(`${core}/pods/${text}/binding`, { target: { name: "n" } }),
    post(`${core}/serviceaccounts/${text}/token`, {}),
    get(`${core}/services/${text}/proxy/x`),
    get(`${core}/pods/${text}:80/proxy/x`),
    get(`/api/v1/nodes/${text}/proxy/x`),
  ]
}
