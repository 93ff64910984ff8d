// Validates the ConfigMap with the issuers whose tokens a control plane accepts (gateway/authentication/oidc) on writes. Only users
// with all permissions may write it: an issuer can impersonate any user.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { invalid } from "../../../apimachinery/status.ts"
import { configurationField, configurationName, parseConfiguration } from "../../authentication/oidc/configuration.ts"
import { confirmRoleGrants, fullAuthority } from "../../authorization/escalation.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { isOf, objectAs } from "./refuse.ts"

type ConfigMap = KubeObject & { data?: Record<string, string> }

export const authenticationConfiguration: AdmissionPlugin = {
  concerns: (attributes) =>
    attributes.name === configurationName &&
    attributes.namespace === "kube-system" &&
    isOf(attributes, "", "configmaps") &&
    (attributes.operation === "CREATE" || attributes.operation === "UPDATE"),

  async validate(ctx, attributes) {
    const { name, current } = attributes
    const { data } = objectAs<ConfigMap>(attributes)
    if (semanticEqual(data, (current as ConfigMap | undefined)?.data)) return
    const text = data?.[configurationField]
    const { errors } = text === undefined ? { errors: [] } : parseConfiguration(text, ctx.controlPlane.trust.issuer)
    if (errors.length > 0) throw invalid({ group: "", kind: "ConfigMap" }, name, errors)
    await confirmRoleGrants(ctx, { resource: "clusterroles", namespace: "", name, rules: fullAuthority })
  },
}
