// What webhooks are sent of subresources: of pods, workloads and service accounts.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, strategicPatch } from "../scenario.ts"
import { pods, space, type WebhookScenario } from "./scenario.ts"
import { both, container, pod } from "./requests.ts"

export function subresourceRequestScenarios(): WebhookScenario[] {
  return [
    { name: "the subresources of a pod are written", hooks: both, steps: podSubresources() },
    { name: "connections are opened", hooks: both, steps: connections() },
    { name: "the subresources of a workload are written", hooks: both, steps: scales() },
    { name: "a service account gets tokens", hooks: both, steps: tokens() },
  ]
}

function podSubresources(): RequestStep[] {
  const one = `${pods}/p`
  return [
    post(pods, pod("p", { terminationGracePeriodSeconds: 30 })),
    patch(`${one}/ephemeralcontainers`, strategicPatch, { spec: { ephemeralContainers: [{ name: "e", image: "i" }] } }),
    patch(`${one}/status`, mergePatch, { status: { message: "m" } }),
    put(`${one}/status`, { metadata: { name: "p" }, status: { phase: "Running" } }),
    patch(`${one}/resize`, strategicPatch, {
      spec: { containers: [{ name: "c", resources: { limits: { cpu: "1" } } }] },
    }),
    post(`${one}/binding?fieldManager=m`, { target: { kind: "Node", name: "n" } }),
    post(`${space}/bindings`, { metadata: { name: "p" }, target: { kind: "Node", name: "n" } }),
    post(`${one}/eviction?dryRun=All`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } }),
    post(`${one}/eviction`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "p" },
      deleteOptions: { gracePeriodSeconds: 10 },
    }),
    remove(one),
    remove(`${one}?gracePeriodSeconds=5`),
    remove(`${one}?gracePeriodSeconds=0`),
  ]
}

function connections(): RequestStep[] {
  const one = `${pods}/p`
  const service = {
    metadata: { name: "s" },
    spec: { clusterIP: "None", selector: { a: "b" }, ports: [{ port: 80 }] },
  }
  return [
    post(pods, pod("p")),
    post(`${one}/exec?container=c&command=a&command=b&stdin=true&tty=false`, undefined as never),
    get(`${one}/attach?stdout=true&stderr=1`),
    post(`${one}/portforward?ports=80&ports=81`, undefined as never),
    post(`${one}/portforward`, undefined as never),
    get(`${one}/proxy`),
    get(`${one}/proxy/some/path?query=x`),
    get(`${one}/log?container=c`),
    post(`${space}/services`, service as Json, { label: "POST a service" }),
    post(`${space}/endpoints`, { metadata: { name: "s" } }),
    get(`${space}/services/s/proxy/`),
  ]
}

function scales(): RequestStep[] {
  const apps = "/apis/apps/v1/namespaces/@{ns}"
  const labels = { app: "a" }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  const deployment = { metadata: { name: "d" }, spec: { replicas: 1, selector: { matchLabels: labels }, template } }
  const controller = { metadata: { name: "r" }, spec: { replicas: 1, selector: labels, template } }
  const one = `${apps}/deployments/d`
  return [
    post(`${apps}/deployments`, deployment),
    get(`${one}/scale`, { save: "scale" }),
    put(`${one}/scale`, { metadata: { name: "d", namespace: "@{ns}" }, spec: { replicas: 2 } }),
    patch(`${one}/scale?fieldManager=m`, mergePatch, { spec: { replicas: 3 } }),
    patch(`${one}/scale?fieldManager=m&force=true`, applyPatch, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d" },
      spec: { replicas: 4 },
    }),
    patch(`${one}/status`, mergePatch, { status: { replicas: 1 } }),
    post(`${space}/replicationcontrollers`, controller),
    put(`${space}/replicationcontrollers/r/scale?dryRun=All`, { metadata: { name: "r" }, spec: { replicas: 0 } }),
  ]
}

function tokens(): RequestStep[] {
  const one = `${space}/serviceaccounts/default`
  return [
    post(`${one}/token`, { spec: { audiences: ["a"], expirationSeconds: 3600 } }),
    post(`${one}/token?dryRun=All&fieldManager=m`, {}),
  ]
}
