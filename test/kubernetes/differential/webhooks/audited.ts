// What pod security tells the audit log, which no response shows.

import { mergePatch, patch, post, put, type RequestStep } from "../scenario.ts"
import { pods, space, type WebhookScenario } from "./scenario.ts"

const dry = `${pods}?dryRun=All`
const labels = "pod-security.kubernetes.io/"
const container = { name: "c", image: "i" }
const pod = (name: string, more: object = {}) => ({ metadata: { name }, spec: { containers: [container], ...more } })

export function auditedScenarios(): WebhookScenario[] {
  return [
    { name: "pod security says what is enforced and what would not be", hooks: [], steps: enforced() },
    { name: "pod security says which labels it cannot read", hooks: [], steps: unreadable() },
  ]
}

function ask(modes: Record<string, string | null>): RequestStep {
  const prefixed = Object.entries(modes).map(([mode, value]) => [labels + mode, value])
  return patch(space, mergePatch, { metadata: { labels: Object.fromEntries(prefixed) as Record<string, string> } })
}

function writes(): RequestStep[] {
  const deployment = {
    metadata: { name: "d" },
    spec: { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: pod("").spec } },
  }
  const controller = { metadata: { name: "r" }, spec: { selector: { a: "b" } } }
  return [
    post(dry, pod("b")),
    post(dry, pod("b", { hostNetwork: true })),
    patch(`${pods}/a?dryRun=All`, mergePatch, { metadata: { labels: { a: "b" } } }),
    patch(`${pods}/a?dryRun=All`, mergePatch, { spec: { containers: [{ name: "c", image: "j" }] } }),
    patch(`${pods}/a/status?dryRun=All`, mergePatch, { status: { message: "m" } }),
    post("/apis/apps/v1/namespaces/@{ns}/deployments?dryRun=All", deployment),
    post(`${space}/replicationcontrollers?dryRun=All`, controller),
  ]
}

function enforced(): RequestStep[] {
  return [
    post(pods, pod("a")),
    ...writes(),
    ask({ audit: "restricted", "audit-version": "v1.20" }),
    ...writes(),
    ask({ enforce: "baseline", warn: "privileged" }),
    ...writes(),
    ask({ enforce: "restricted", "enforce-version": "v1.20" }),
    ...writes(),
    ask({ enforce: "privileged", "enforce-version": "v1.9", audit: null, "audit-version": null }),
    ...writes(),
  ]
}

/** An update of the status is not held to the rules of labels. */
function unreadable(): RequestStep[] {
  const relabel = (modes: Record<string, string>): RequestStep =>
    put(`${space}/status`, {
      metadata: {
        name: "@{ns}",
        labels: Object.fromEntries(Object.entries(modes).map(([mode, value]) => [labels + mode, value])),
      },
    })
  return [
    post(pods, pod("a")),
    relabel({ audit: "odd" }),
    ...writes(),
    relabel({ warn: "odd", "enforce-version": "1", enforce: "nothing" }),
    ...writes(),
  ]
}
