// Counts authentications and authorizations like kube-apiserver, without user names. Source:
// k8s.io/apiserver/pkg/endpoints/filters/metrics.go, pkg/authentication/request/x509.

import {
  clear,
  family,
  histogram,
  histogramSamples,
  observe,
  printLabels,
  sample,
} from "../../client/metrics/exposition.ts"
import type { Decision } from "../authorization/types.ts"

/** Remaining validity of certificates in seconds: from minutes to a year. */
const leftBounds = [
  0, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000,
] as const

/** The labels for users; those with an e-mail address, and all others, come last. */
const kinds = [
  "admin",
  "client",
  "kube_proxy",
  "kubelet",
  "system:serviceaccount:kube-system:default",
  "email_id",
  "other",
]
const known: ReadonlyMap<string, number> = new Map(kinds.slice(0, -2).map((name, kind) => [name, kind]))

/** Index into {@link kinds}. */
export function kindOfUser(name: string): number {
  return known.get(name) ?? kinds.length - (name.includes("@") ? 2 : 1)
}

const results = { Allow: "allowed", Deny: "denied", NoOpinion: "no-opinion" } as const

export class AccessCounts {
  readonly #users = kinds.map(() => 0)
  readonly #decisions = { Allow: 0, Deny: 0, NoOpinion: 0 }
  readonly #left = histogram(leftBounds)
  #successes = 0
  #errors = 0

  /** `certificateEnd`: expiry of the authenticating certificate, in milliseconds since the epoch. */
  authenticated(kind: number, certificateEnd: number | undefined): void {
    this.#successes++
    if (certificateEnd !== undefined) observe(this.#left, (certificateEnd - Date.now()) / 1000)
    this.#users[kind] = (this.#users[kind] ?? 0) + 1
  }

  /** Counts invalid credentials. */
  refused(): void {
    this.#errors++
  }

  authorized(decision: Decision["decision"]): void {
    this.#decisions[decision]++
  }

  reset(): void {
    this.#users.fill(0)
    Object.assign(this.#decisions, { Allow: 0, Deny: 0, NoOpinion: 0 })
    clear(this.#left)
    this.#successes = 0
    this.#errors = 0
  }

  print(): string {
    const attempts = { success: this.#successes, error: this.#errors }
    const decisions = Object.entries(this.#decisions) as [Decision["decision"], number][]
    const left = "apiserver_client_certificate_expiration_seconds"
    return [
      counter(
        "authenticated_user_requests",
        "Authenticated requests, by kind of user",
        "username",
        this.#users.map((count, kind) => [kinds[kind] ?? "", count]),
      ),
      counter(
        "authentication_attempts",
        "Requests, by whether it is known who asks",
        "result",
        Object.entries(attempts),
      ),
      counter(
        "authorization_attempts_total",
        "Requests, by whether they may be made",
        "result",
        decisions.map(([decision, count]) => [results[decision], count]),
      ),
      family(
        left,
        "histogram",
        "Time that certificates have left with which requests are made",
        histogramSamples(left, "", this.#left),
      ),
    ].join("")
  }
}

function counter(name: string, help: string, label: string, counts: readonly (readonly [string, number])[]): string {
  const happened = counts.filter(([, count]) => count > 0)
  return family(
    name,
    "counter",
    help,
    happened.map(([value, count]) => sample(name, printLabels({ [label]: value }), count)),
  )
}
