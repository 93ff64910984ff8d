// Random requests for what describes a server, and for its health: documents of discovery and OpenAPI in every form and encoding.

import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { get, post, type RequestStep, type Scenario, withQuery } from "../scenario.ts"
import { mediaTypes, query } from "./texts.ts"
import { titled } from "./titled.ts"

const length = 60

export function randomDocumentScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length }, () => request(random))
  return { name: `documents at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

/** Those that other scenarios do not change, which define kinds and groups at the same time. */
const paths = [
  "/api",
  "/api",
  "/api/v1",
  "/apis/apps",
  "/apis/apps/v1",
  "/apis/autoscaling",
  "/apis/autoscaling/v2",
  "/apis/apiextensions.k8s.io/v1",
  "/apis/apiregistration.k8s.io",
  "/apis/storagemigration.k8s.io/v1beta1",
  "/apis/resource.k8s.io/v1",
  "/livez/ping",
  "/healthz/ping",
  "/openapi/v3/version",
  "/openapi/v3/apis/batch",
  "/openapi/v3/apis/nothing/v1",
  "/openapi/v2/x",
]

const discovery = ["json", "yaml", "vnd.kubernetes.protobuf", "cbor", "*"].flatMap((type) =>
  [
    "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
    "as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io;profile=nopeer",
    "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscovery",
    "g=meta.k8s.io;v=v1;as=APIGroupList",
  ].map((form) => `application/${type};${form}`),
)

function accept(random: Random): string {
  const one = (): string => {
    if (chance(random, 0.4)) return mediaTypes(random)
    const weight = chance(random, 0.3) ? pick(random, [";q=0", ";q=0.1", ";q=1", "; q=0.5", ";q=x", ";q=1.5"]) : ""
    return `${pick(random, discovery)}${weight}`
  }
  return Array.from({ length: 1 + random(3) }, one).join(",")
}

function request(random: Random): RequestStep {
  const plain = pick(random, paths)
  const path = chance(random, 0.1) ? pick(random, [`${plain}/`, `/${plain}`, `${plain}/x`, plain.toUpperCase()]) : plain
  const full = chance(random, 0.2) ? withQuery(path, query(random)) : path
  const headers = {
    ...(chance(random, 0.85) ? { accept: accept(random) } : {}),
    ...(chance(random, 0.1) ? { "if-none-match": pick(random, ["*", '"x"', ""]) } : {}),
    ...(chance(random, 0.1) ? { "accept-encoding": pick(random, ["gzip", "identity", "gzip;q=0", "*"]) } : {}),
  }
  const method = chance(random, 0.9) ? "GET" : pick(random, ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
  if (method === "POST") return post(full, {}, { headers })
  return { ...get(full, { headers }), method }
}
