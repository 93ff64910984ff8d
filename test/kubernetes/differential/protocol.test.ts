// How both servers speak, whatever they say: headers, bytes and connections, on one pair of servers.

import { afterAll, beforeAll, describe } from "vitest"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { compareDocumentHeaders } from "./protocol/document-headers.ts"
import { compareHeaders } from "./protocol/headers.ts"
import { compareJsonBytes } from "./protocol/json-bytes.ts"
import { compareWebSockets } from "./protocol/web-sockets.ts"
import { compareWire } from "./protocol/wire.ts"
import { compareYamlBytes } from "./protocol/yaml-bytes.ts"
import { type Servers, startServers } from "./servers.ts"

describe.skipIf(lacks(TestKubernetes.binaries()))("a tenant speaks as kube-apiserver does:", () => {
  let started: Servers
  const servers = (): Servers => started
  beforeAll(async () => {
    started = await startServers()
  })
  afterAll(() => started?.[Symbol.asyncDispose]())

  describe("answers have the headers of kube-apiserver's:", () => compareHeaders(servers))
  describe("the bytes of JSON answers", () => compareJsonBytes(servers))
  describe("the bytes of YAML answers", () => compareYamlBytes(servers))
  describe("on the wire", () => compareWire(servers))
  describe("a watch over a WebSocket", () => compareWebSockets(servers))
  // Makes and removes kinds, which the documents of others show.
  describe("documents are kept by clients", () => compareDocumentHeaders(servers))
})
