// Records the last use of the token in a Secret: a label contains the day, which the cleanup controller reads. Written once a day.
// Source: k8s.io/kubernetes/pkg/serviceaccount/legacy.go.

import type { Secret } from "../../apimachinery/object.ts"
import { lastUsedLabel } from "../../apimachinery/core/service-account-tokens.ts"
import { remember } from "../../apimachinery/remember.ts"
import { secrets } from "../../client/resources.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"

/** Number of Secrets whose recorded use is cached; the oldest are dropped. */
const maxRemembered = 1024

/** Does not wait for the write: a failure to write the label must not cause a request to fail. */
export function tokenUseRecorder(client: () => Pick<KubeClient, "patch">, log: Log): (secret: Secret) => void {
  const written = new Map<string, string>()
  return ({ metadata }) => {
    const today = new Date().toISOString().slice(0, 10)
    const { uid = "", namespace, name = "" } = metadata
    if (metadata.labels?.[lastUsedLabel] === today || written.get(uid) === today) return
    remember(written, uid, today, maxRemembered)
    const change = { metadata: { uid, labels: { [lastUsedLabel]: today } } }
    client()
      .patch<Secret>(secrets, namespace, name, change, { type: "merge" })
      .catch((error: unknown) => {
        written.delete(uid)
        log.warn({ namespace, name, err: error }, "the day a token was used is not written down")
      })
  }
}
