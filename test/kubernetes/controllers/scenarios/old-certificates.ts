// Certificate requests that were answered long ago, for a signer that no controller implements.

import type { Scenario, Step } from "../scenario.ts"
import { certificateFor, request, requestOf, saidOf } from "./certificate-steps.ts"
import { settle } from "./steps.ts"

const jane = await requestOf("CN=jane")
const hourMs = 3_600_000

const valid = await certificateFor(24 * hourMs)
const expired = await certificateFor(-60_000)

const requested = (name: string): Step => request(jane, { signerName: "example.com/other" }, `NAMESPACE-${name}`)
const hoursAgo = (hours: number): string => new Date(Date.now() - hours * hourMs).toISOString().replace(/\.\d+/, "")
const said = (type: string, hours: number): object => ({ ...saidOf(type), lastUpdateTime: hoursAgo(hours) })
const says = (name: string, subresource: "approval" | "status", status: object): Step => ({
  patch: ["certificatesigningrequests", `NAMESPACE-${name}`],
  with: { status },
  subresource,
})
const decided = (name: string, type: "Approved" | "Denied", hours: number): Step[] => [
  requested(name),
  says(name, "approval", { conditions: [said(type, hours)] }),
]
const signed = (name: string, hours: number, certificate: string): Step[] => [
  ...decided(name, "Approved", hours),
  says(name, "status", { certificate }),
]
const failed = (name: string, hours: number): Step[] => [
  requested(name),
  says(name, "status", { conditions: [said("Failed", hours)] }),
]
const isGone = (name: string): Step => ({ until: ["certificatesigningrequests", `NAMESPACE-${name}`], has: null })

export const oldCertificates: Scenario = {
  name: "requests for certificates that were answered long ago",
  before: [
    requested("waits"),
    ...decided("denied", "Denied", 2),
    ...decided("denied-lately", "Denied", 0.5),
    ...failed("failed", 2),
    ...failed("failed-lately", 0.5),
    ...decided("not-signed", "Approved", 25),
    ...decided("not-signed-yet", "Approved", 23),
    ...signed("signed", 2, valid),
    ...signed("signed-lately", 0.5, valid),
    ...signed("over", 0.5, expired),
    ...signed("over-twice", 2, expired),
  ],
  steps: [...["denied", "failed", "not-signed", "signed", "over", "over-twice"].map(isGone), settle],
}
