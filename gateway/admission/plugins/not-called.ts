// Admission policies are stored, so that charts that bring them install, but not called. Whoever
// makes one is told so, each time.

import type { AdmissionPlugin } from "../chain.ts"

const group = "admissionregistration.k8s.io"

const warnings: Readonly<Record<string, string>> = {
  validatingadmissionpolicies: "this control plane does not evaluate admission policies: the policy has no effect",
  validatingadmissionpolicybindings:
    "this control plane does not evaluate admission policies: the binding has no effect",
  mutatingadmissionpolicies: "this control plane does not evaluate admission policies: the policy has no effect",
  mutatingadmissionpolicybindings: "this control plane does not evaluate admission policies: the binding has no effect",
}

export const notCalled: AdmissionPlugin = {
  name: "AdmissionPoliciesNotCalled",

  async mutate(ctx, { operation, resource, subresource }) {
    if (resource.group !== group || subresource !== "") return
    if (operation !== "CREATE" && operation !== "UPDATE") return
    const warning = warnings[resource.resource]
    if (warning !== undefined) ctx.warn(warning)
  },
}
