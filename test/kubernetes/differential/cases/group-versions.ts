// The apiVersion of bodies and patches in forms that Go takes for others: with nothing before its slash, or nothing behind it.

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
import { definitionOf, definitions } from "./things.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
const group = "h@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const modes = ["", "Strict", "Ignore"]

export function groupVersionCases(): Scenario[] {
  return [
    { name: "bodies have half an apiVersion", steps: bodies() },
    { name: "patches give half an apiVersion", steps: patches() },
    { name: "custom resources have half an apiVersion", steps: custom() },
  ]
}

const versions = ["apps/", "/v1", "/", "/v2", "apps/v1/", "//", "other/"]

const deployment = (apiVersion: string, name = "d"): Json => ({
  apiVersion,
  kind: "Deployment",
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
})

function bodies(): RequestStep[] {
  const map = (apiVersion: string, more: object = {}): Json =>
    ({ apiVersion, kind: "ConfigMap", metadata: { name: "a" }, ...more }) as Json
  return [
    post(maps, map("v1")),
    post(deployments, deployment("apps/v1")),
    ...versions.flatMap((version) => {
      const label = (verb: string): { label: string } => ({ label: `${verb} ${version}` })
      return [
        ...modes.map((mode) =>
          post(`${maps}?dryRun=All&fieldValidation=${mode}`, map(version, { metadata: { name: "b" }, bogus: 1 }), {
            label: `POST ${version} ${mode}`,
          }),
        ),
        post(`${maps}?dryRun=All`, { apiVersion: version, metadata: { name: "b" } }, label("POST without kind")),
        put(`${maps}/a?dryRun=All`, map(version), label("PUT")),
        remove(`${maps}/a?dryRun=All`, { apiVersion: version, kind: "DeleteOptions" }, label("DELETE")),
        post(`${deployments}?dryRun=All`, deployment(version, "e"), label("POST deployment")),
        put(
          `${deployments}/d/scale?dryRun=All`,
          { apiVersion: version, kind: "Scale", metadata: { name: "d" } },
          label("PUT scale"),
        ),
      ]
    }),
  ]
}

function patches(): RequestStep[] {
  const one = `${deployments}/d`
  const changes: Json[] = [{}, { bogus: 1 }, { spec: { replicas: 2 } }]
  return [
    post(deployments, deployment("apps/v1")),
    post(maps, { metadata: { name: "a" } }),
    ...["apps/", "/v1", "/"].flatMap((version) => [
      ...[one, `${one}/status`].flatMap((path) =>
        changes.flatMap((change) => inEachWay(path, version, change as object)),
      ),
      patch(`${one}?dryRun=All&fieldManager=m&force=true`, applyPatch, deployment(version), {
        label: `APPLY ${version}`,
      }),
    ]),
    ...["/v1", "/"].flatMap((version) => inEachWay(`${maps}/a`, version, { bogus: 1 })),
  ]
}

function inEachWay(path: string, apiVersion: string, change: object): RequestStep[] {
  const operations = Object.entries({ apiVersion, ...change }).map(([field, value]) => ({
    op: "add",
    path: `/${field}`,
    value: value as Json,
  }))
  return modes.flatMap((mode) =>
    [mergePatch, strategicPatch, jsonPatch].map((type) =>
      patch(
        `${path}?dryRun=All&fieldValidation=${mode}`,
        type,
        type === jsonPatch ? operations : ({ apiVersion, ...change } as Json),
        { label: `${path} ${type} ${mode} ${apiVersion} ${JSON.stringify(change)}` },
      ),
    ),
  )
}

function custom(): RequestStep[] {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { a: { type: "string" } } }, status: { type: "object" } },
    },
  }
  const thing = (apiVersion: string, name = "a"): Json => ({
    apiVersion,
    kind: "Thing",
    metadata: { name },
    spec: { a: "x", b: "y" },
  })
  return [
    { ...post(definitions, definitionOf(group, {}, { schema, subresources: { status: {} } }) as Json), label: "WRITE" },
    get(things, { untilCode: 200 }),
    post(things, thing(`${group}/v1`)),
    ...[`${group}/`, "/v1", "/", "other/"].flatMap((version) => [
      ...modes.flatMap((mode) => [
        post(`${things}?dryRun=All&fieldValidation=${mode}`, thing(version, "b"), { label: `POST ${version} ${mode}` }),
        put(`${things}/a?dryRun=All&fieldValidation=${mode}`, thing(version), { label: `PUT ${version} ${mode}` }),
      ]),
      ...["a", "a/status"].flatMap((name) =>
        [{}, { bogus: 1 }].flatMap((change) =>
          inEachWay(`${things}/${name}`, version, change).filter(({ contentType }) => contentType !== strategicPatch),
        ),
      ),
    ]),
  ]
}
