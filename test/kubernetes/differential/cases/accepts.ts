// Media types that a client accepts of what is not an object: logs, connections, and the documents for those who verify tokens.

import { get, mergePatch, post, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"

const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
const types = [
  "text/plain",
  "text/plain, */*",
  "text/*",
  "text/plain;q=0.5, application/json",
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/*",
  "APPLICATION/JSON",
  "image/png",
  "*",
  "*/*",
  "",
  ",",
  table,
  `${table},application/json`,
  `text/plain,${table}`,
]

/** Those for which there is an answer, which has other keys and addresses on each server. */
const answered = {
  "/openid/v1/jwks": /\*\/\*|^$/,
  "/.well-known/openid-configuration": /json|\*\/\*|^$/i,
}

export function acceptCases(): Scenario[] {
  const connections = ["log", "log?container=x", "log?tailLines=x", "exec", "attach", "portforward", "proxy"]
  return [
    {
      name: "logs and connections have their own media types",
      steps: [
        post(`${core}/pods`, { metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i" }] } }),
        ...types.flatMap((accept) =>
          ["a", "absent", ""].flatMap((name) =>
            connections.map((end) =>
              get(`${core}/pods/${name}/${end}`, { headers: { accept }, label: `${name}/${end} ${accept}` }),
            ),
          ),
        ),
      ],
    },
    { name: "the types of a body and of its answer are both wrong", steps: wrongTypes() },
    {
      name: "documents of the issuer have one media type",
      steps: Object.entries(answered).flatMap(([path, isAnswered]) =>
        types
          .filter((accept) => !isAnswered.test(accept) || accept === "APPLICATION/JSON")
          .map((accept) => get(path, { headers: { accept }, label: `GET ${path} ${accept}` })),
      ),
    },
  ]
}

function wrongTypes(): RequestStep[] {
  const bodies = ["text/plain", "application/apply-patch+cbor", "application/json", mergePatch, `x, ${mergePatch}`, ""]
  const paths = [`${core}/configmaps/a`, "/apis/apps/v1/namespaces/@{ns}/deployments/a/scale", "/api/v1"]
  return ["POST", "PUT", "PATCH", "DELETE"].flatMap((method) =>
    bodies.flatMap((contentType) =>
      ["text/plain", "application/json"].flatMap((accept) =>
        paths.map((path) => ({
          method,
          path,
          contentType,
          headers: { accept },
          body: {},
          label: `${method} ${path} with ${contentType} as ${accept}`,
        })),
      ),
    ),
  )
}
