// What the scenarios of nodes share (node-reads.ts, node-writes.ts).

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, type RequestStep, type User } from "../scenario.ts"

export const core = "/api/v1/namespaces/@{ns}"
export const reviews = "/apis/authorization.k8s.io/v1"
export const node: User = { name: "system:node:n@{id}", groups: ["system:nodes", "system:authenticated"] }

export const container = (more: object = {}): Json => ({ name: "c", image: "i", ...more }) as Json

export const podOn = (nodeName: string, name: string, spec: object = {}): RequestStep =>
  post(`${core}/pods`, { metadata: { name }, spec: { nodeName, containers: [container()], ...spec } } as Json)

/** kube-apiserver learns from its informers which objects concern a node. */
export const known = (path: string): RequestStep =>
  get(path, { as: node, untilCode: 200, label: `GET ${path} when known` })
