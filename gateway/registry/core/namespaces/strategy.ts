// Namespaces. A delete only marks the namespace. The namespace controller empties it and then removes "kubernetes" from
// spec.finalizers through the finalize subresource, which removes the namespace. Source:
// k8s.io/kubernetes/pkg/registry/core/namespace.

import { FieldPath, type FieldError, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { KubeObject, Namespace } from "../../../../apimachinery/object.ts"
import { badRequest } from "../../../../apimachinery/status.ts"
import { onBehalf } from "../../generic/internal-write.ts"
import type { KindExtension, Strategy, SubresourceHandler } from "../../strategy.ts"
import { messages } from "../../validation/values.ts"

const nameLabel = "kubernetes.io/metadata.name"
const standardFinalizers = ["kubernetes", "orphan", "foregroundDeletion"]

const strategy: Strategy<Namespace> = {
  nameRule: validateDNS1123Label,
  generation: false,

  default(namespace) {
    const { name } = namespace.metadata
    // A name from generateName is not known yet; canonicalize sets its label.
    if (name) namespace.metadata.labels = { ...namespace.metadata.labels, [nameLabel]: name }
    namespace.spec ??= {}
    namespace.status ??= {}
    namespace.status.phase = namespace.status.phase || "Active"
  },

  async begin(ctx, namespace, current) {
    return current === undefined ? ctx.controlPlane.superQuota.claimNamespace(ctx, namespace) : undefined
  },

  prepareForCreate(_ctx, namespace) {
    namespace.status = { phase: "Active" }
    const finalizers = namespace.spec?.finalizers ?? []
    namespace.spec = {
      ...namespace.spec,
      finalizers: finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"],
    }
  },

  prepareForUpdate(ctx, namespace, current) {
    const { subresource } = ctx.info
    if (subresource !== "finalize" && current.spec !== undefined) namespace.spec = current.spec
    if (subresource !== "status" && current.status !== undefined) namespace.status = current.status
  },

  canonicalize(namespace) {
    const { name } = namespace.metadata
    if (name) namespace.metadata.labels = { ...namespace.metadata.labels, [nameLabel]: name }
  },

  validate: (_ctx, namespace) => validateFinalizers(namespace, false),

  validateUpdate(ctx, namespace) {
    if (ctx.info.subresource === "finalize") return validateFinalizers(namespace, true)
    if (ctx.info.subresource !== "status") return []
    const phase = namespace.status?.phase
    const wanted = namespace.metadata.deletionTimestamp === undefined ? "Active" : "Terminating"
    const state = wanted === "Active" ? "is empty" : "is not empty"
    return phase === wanted
      ? []
      : [
          invalidValue(
            FieldPath.root("status", "Phase"),
            phase ?? "",
            `may only be '${wanted}' if \`deletionTimestamp\` ${state}`,
          ),
        ]
  },

  heldBack: (namespace) => (namespace.spec?.finalizers ?? []).length > 0,

  markDeleted(namespace) {
    namespace.status = { ...namespace.status, phase: "Terminating" }
  },

  selectableFields: (namespace) => ({
    name: namespace.metadata.name ?? "",
    "status.phase": namespace.status?.phase ?? "",
  }),
}

const finalize: SubresourceHandler = {
  async update(ctx, registry, _namespace, name, change, options, admit) {
    const result = await registry.update(
      onBehalf(ctx, { group: "", version: "v1", resource: "namespaces", namespace: "", name, subresource: "finalize" }),
      "",
      name,
      async (current) => {
        const wanted = await change(current as KubeObject)
        if (wanted.metadata.name !== name) {
          throw badRequest(
            `the name of the object (${wanted.metadata.name}) does not match the name on the URL (${name})`,
          )
        }
        return wanted
      },
      { ...options, subresource: "finalize" },
      admit,
    )
    return result.value.object()
  },
}

export const namespaces: KindExtension = { strategy, subresources: { finalize } }

function validateFinalizers(namespace: Namespace, indexed: boolean): FieldError[] {
  const path = FieldPath.root("spec", "finalizers")
  return (namespace.spec?.finalizers ?? []).flatMap((finalizer, index) => {
    const at = indexed ? path.index(index) : path
    const errors = messages(at, finalizer, validateQualifiedName(finalizer))
    if (!finalizer.includes("/") && !standardFinalizers.includes(finalizer)) {
      errors.push(invalidValue(at, finalizer, "name is neither a standard finalizer name nor is it fully qualified"))
    }
    return errors
  })
}
