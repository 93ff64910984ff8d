// Rejects creates in namespaces that do not exist or are being deleted; three namespaces cannot be deleted. Source:
// k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle.

import { goQuote } from "../../../apimachinery/go/quote.ts"
import { validatePathSegmentName } from "../../../apimachinery/names.ts"
import type { Namespace } from "../../../apimachinery/object.ts"
import { internalError, notFound, restated, type StatusError } from "../../../apimachinery/status.ts"
import { namespaces } from "../../../client/resources.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { find } from "./lookup.ts"
import { refuse } from "./refuse.ts"

const immortal = new Set(["default", "kube-system", "kube-public"])

export const namespaceLifecycle: AdmissionPlugin = {
  concerns: ({ operation }) => operation !== "CONNECT",

  async mutate(ctx, attributes) {
    const { operation, namespace, name, resource } = attributes
    const isNamespace = resource.group === "" && resource.resource === "namespaces"
    if (isNamespace) {
      const goes = operation === "DELETE" && attributes.subresource === ""
      if (goes && immortal.has(name)) throw refuse(attributes, "this namespace may not be deleted")
      return
    }
    if (namespace === "" || operation === "DELETE" || isAccessReview(attributes)) return
    checkName(namespace)
    const found = await find<Namespace>(ctx, namespaces, "", namespace)
    if (found === undefined) throw notFound({ group: "", resource: "namespaces" }, namespace)
    if (operation === "CREATE" && found.status?.phase === "Terminating") throw terminating(attributes)
  },

  /** Deletes have no mutating phase. */
  validate(_ctx, attributes) {
    const { operation, name, resource, subresource } = attributes
    const isNamespace = resource.group === "" && resource.resource === "namespaces"
    if (isNamespace && subresource === "" && operation === "DELETE" && immortal.has(name)) {
      throw refuse(attributes, "this namespace may not be deleted")
    }
  },
}

/** Upstream looks it up with a client, which refuses such a name. */
function checkName(namespace: string): void {
  const faults = validatePathSegmentName(namespace)
  if (faults.length > 0) throw internalError(`invalid resource name ${goQuote(namespace)}: [${faults.join(" ")}]`)
}

function isAccessReview({ resource }: AdmissionAttributes): boolean {
  return resource.group === "authorization.k8s.io" && resource.resource === "localsubjectaccessreviews"
}

/** Controllers check the cause and stop creating objects. */
function terminating(attributes: AdmissionAttributes): StatusError {
  const { namespace } = attributes
  const error = refuse(
    attributes,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  )
  return restated(error, {
    details: {
      ...error.status.details,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    },
  })
}
