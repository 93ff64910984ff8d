// What webhooks see of a Service's addresses and ports: the mutating ones what was asked for, the validating ones what was allocated.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { reviewed, type WebhookHandler } from "../../../../gateway/testing/webhook-server.ts"
import { applyPatch, mergePatch, patch, post, put, remove, type RequestStep } from "../scenario.ts"
import { type RegisteredHook, rule, type WebhookScenario } from "./scenario.ts"

const services = "/api/v1/namespaces/@{ns}/services"
const ports = [{ port: 80 }]
const selector = { a: "b" }

const both: readonly RegisteredHook[] = [{ kind: "Mutating" }, { kind: "Validating" }]

export function serviceScenarios(): WebhookScenario[] {
  return [
    { name: "services are created", hooks: both, steps: created("") },
    { name: "services are created as dry runs", hooks: both, steps: created("?dryRun=All") },
    { name: "services are changed", hooks: both, steps: changes() },
    {
      name: "services are refused",
      hooks: [{ webhook: { rules: [rule("services")] }, reply: denyLabelled }],
      steps: refused(),
    },
  ]
}

const specs: Readonly<Record<string, Json>> = {
  plain: { ports, selector },
  typed: { type: "ClusterIP", ports, ipFamilyPolicy: "PreferDualStack" },
  headless: { clusterIP: "None", ports, selector },
  unselected: { clusterIP: "None", ports },
  nodeport: { type: "NodePort", ports, selector },
  external: { type: "ExternalName", externalName: "a.example.com" },
  balanced: { type: "LoadBalancer", ports, selector },
}

const created = (query: string): RequestStep[] => Object.entries(specs).map(([name, spec]) => made(name, spec, query))

const made = (name: string, spec: Json, query = ""): RequestStep =>
  post(`${services}${query}`, { metadata: { name }, spec }, { label: `POST ${name}${query}` })

function changes(): RequestStep[] {
  const one = `${services}/a`
  const meta = { metadata: { name: "a" } }
  const apply = (spec: Json): Json => ({ apiVersion: "v1", kind: "Service", ...meta, spec })
  return [
    made("a", { ports, selector }),
    patch(one, mergePatch, { metadata: { labels: { x: "y" } } }, { label: "PATCH labels" }),
    put(one, { ...meta, spec: { ports, selector } }, { label: "PUT without addresses" }),
    patch(one, mergePatch, { spec: { ports: [{ port: 81 }] } }, { label: "PATCH ports" }),
    patch(one, mergePatch, { spec: { type: "NodePort" } }, { label: "PATCH to NodePort" }),
    patch(one, mergePatch, { spec: { type: "ClusterIP" } }, { label: "PATCH to ClusterIP" }),
    patch(
      `${services}/b?fieldManager=m`,
      applyPatch,
      { ...(apply({ ports }) as Loose), metadata: { name: "b" } },
      {
        label: "APPLY a new one",
      },
    ),
    patch(`${one}?fieldManager=m&force=true`, applyPatch, apply({ ports, selector }), { label: "APPLY" }),
    remove(one),
  ]
}

const denyLabelled: WebhookHandler = (call) => {
  const { object } = call.body["request"] as Loose
  const allowed = object?.metadata.labels?.denied === undefined
  return reviewed(call, { allowed })
}

/** What was allocated for it is there for the next one. */
function refused(): RequestStep[] {
  const service = (labels: Json): Json => ({
    metadata: { name: "a", labels },
    spec: { type: "NodePort", clusterIP: "10.96.77.5", ports: [{ port: 80, nodePort: 30_777 }] },
  })
  return [
    post(services, service({ denied: "1" }), { label: "POST denied" }),
    post(services, service({ denied: "1" }), { label: "POST denied again" }),
    post(services, service({}), { label: "POST allowed" }),
    post(services, service({ denied: "1" }), { label: "POST of what is there" }),
    remove(`${services}/a`),
  ]
}
