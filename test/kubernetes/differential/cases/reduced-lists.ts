// Lists without objects, and scales, in reduced forms and every encoding; lists of versions in forms that there are not.

import { get, mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions, group, things } from "./things.ts"

const core = "/api/v1/namespaces/@{ns}"
const formats = ["json", "yaml", "vnd.kubernetes.protobuf"]
const accepts = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"].flatMap((form) =>
  ["v1", "v1beta1"].flatMap((version) =>
    formats.map((format) => `application/${format};as=${form};v=${version};g=meta.k8s.io`),
  ),
)

export function reducedListCases(): Scenario[] {
  const inEveryForm = (path: string): RequestStep[] =>
    accepts.map((accept) => get(path, { headers: { accept }, label: `${path} as ${accept}` }))
  return [
    {
      name: "empty lists, and scales of a custom resource, are reduced",
      steps: [
        post(
          definitions,
          definitionOf(
            group,
            {},
            {
              schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
              subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
            },
          ),
        ),
        ...[`${core}/secrets`, `${core}/events`].flatMap(inEveryForm),
        get(things, { untilCode: 200 }),
        ...inEveryForm(things),
        post(
          things,
          { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec: { replicas: 1 } },
          { untilCode: 201 },
        ),
        ...inEveryForm(`${things}/a/scale`),
        ...accepts.map((accept) =>
          patch(
            `${things}/a/scale`,
            mergePatch,
            { spec: { replicas: 2 } },
            { headers: { accept }, label: `PATCH as ${accept}` },
          ),
        ),
      ],
    },
    { name: "lists of versions have forms, types and methods", steps: versions() },
  ]
}

function versions(): RequestStep[] {
  const groups = ["apps", "apiregistration.k8s.io", "none"].flatMap((name) =>
    ["", "/", "//"].map((end) => `/apis/${name}${end}`),
  )
  const paths = [...groups, "/apis/none/v1", "/apis/apps/v9", "/apis/apps/v1//", "/openapi/v3/apis/"]
  return paths.flatMap((path) =>
    ["GET", "HEAD", "POST", "DELETE", "OPTIONS"].flatMap((method) =>
      [
        {},
        { accept: "text/html" },
        { accept: "application/yaml" },
        { "content-type": "text/plain" },
        { accept: "text/html", "content-type": "text/plain" },
      ].map((headers): RequestStep => ({
        method,
        path,
        headers,
        label: `${method} ${path} ${JSON.stringify(headers)}`,
      })),
    ),
  )
}
