// Parts of workloads whose pods have the label a=b, for tests of their kinds.

import type { Loose } from "./kinds.ts"

export const template = (spec: Loose = {}): Loose => ({
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "a", image: "b" }], ...spec },
})
export const selected = (more: Loose = {}): Loose => ({
  selector: { matchLabels: { a: "b" } },
  template: template(),
  ...more,
})
/** Of jobs. */
export const never = template({ restartPolicy: "Never" })
