// When the token in a Secret was used last: a label says the day, and who cleans up looks at it. Written once a day. Source:
// k8s.io/kubernetes/pkg/serviceaccount/legacy.go.

import type { Secret } from "../../apimachinery/object.ts"
import { lastUsedLabel } from "../../apimachinery/secret-tokens.ts"
import { secrets } from "../../client/resources.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"

/** Secrets whose use is remembered as written; the oldest go. */
const maxRemembered = 1024

/** Does not wait for what it writes: nobody is refused because a label could not be written. */
export function tokenUseRecorder(client: () => Pick<KubeClient, "patch">, log: Log): (secret: Secret) => void {
  const written = new Map<string, string>()
  return ({ metadata }) => {
    const today = new Date().toISOString().slice(0, 10)
    const { uid = "", namespace, name = "" } = metadata
    if (metadata.labels?.[lastUsedLabel] === today || written.get(uid) === today) return
    written.delete(uid)
    written.set(uid, today)
    const [oldest = ""] = written.keys()
    if (written.size > maxRemembered) written.delete(oldest)
    const change = { metadata: { uid, labels: { [lastUsedLabel]: today } } }
    client()
      .patch<Secret>(secrets, namespace, name, change, { type: "merge" })
      .catch((error: unknown) => {
        written.delete(uid)
        log.warn({ namespace, name, err: error }, "the day a token was used is not written down")
      })
  }
}
