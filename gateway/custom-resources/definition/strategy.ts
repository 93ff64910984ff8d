// CustomResourceDefinitions. Their names are accepted by the write itself, so that the defined resources are served when the write
// returns. Deletion waits until all objects have been deleted (cleanup.ts). Source:
// k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition.

import { expressionsSizeErrors } from "../../../apimachinery/cel/expressions-size.ts"
import { FieldPath } from "../../../apimachinery/field-errors.ts"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { timestamp } from "../../../apimachinery/object.ts"
import { toLower } from "../../../apimachinery/texts.ts"
import { builtIn } from "../../registry/generic/internal-write.ts"
import { storagePrefixOf } from "../../registry/generic/storage/keys.ts"
import type { Claim } from "../../registry/claim.ts"
import type { KindExtension, Strategy } from "../../registry/strategy.ts"
import { cleanupFinalizer, type Definition, definitionsResource, withCondition } from "../types.ts"
import { settleStatus } from "./conditions.ts"
import { unknownFormats } from "./formats.ts"
import { validateAcceptedNames, validatingDefinition, validatingDefinitionUpdate } from "./validate.ts"

const { group, resource } = definitionsResource
const nothingHeld: Claim = { commit: () => undefined, rollback: async () => undefined }

const strategy: Strategy<Definition> = {
  allowUnconditionalUpdate: false,

  default(definition) {
    const spec = (definition.spec ??= {})
    const names = (spec.names ??= {})
    if (!names.singular && names.kind) names.singular = toLower(names.kind)
    if (!names.listKind && names.kind) names.listKind = `${names.kind}List`
    spec.conversion ??= { strategy: "None" }
    const { webhook } = spec.conversion
    if (webhook && webhook.clientConfig === undefined && (webhook.conversionReviewVersions ?? []).length === 0) {
      delete spec.conversion.webhook
    }
    const service = spec.conversion.webhook?.clientConfig?.service
    if (service) service.port ??= 443
    if (spec.preserveUnknownFields === false) delete spec.preserveUnknownFields
    const stored = storageVersionOf(definition)
    if (stored !== undefined && definition.status && (definition.status.storedVersions ?? []).length === 0)
      definition.status.storedVersions = [stored]
  },

  prepareForCreate(_ctx, definition) {
    definition.metadata.generation = 1
    const stored = storageVersionOf(definition)
    definition.status = {
      acceptedNames: { kind: "", plural: "" },
      conditions: null,
      storedVersions: stored === undefined ? [] : [stored],
    }
  },

  prepareForUpdate(ctx, definition, current) {
    const stored = storageVersionOf(ctx.info.subresource === "" ? definition : current)
    if (ctx.info.subresource === "") definition.status = structuredClone(current.status ?? {})
    const status = (definition.status ??= {})
    const known = status.storedVersions ?? []
    // A written status may name any other versions, but not none.
    if (ctx.info.subresource !== "" && known.length > 0) return
    if (stored !== undefined && !known.includes(stored)) status.storedVersions = [...known, stored]
  },

  // The rules for the name depend on the spec, so validate checks them.
  nameRule: () => [],

  validateFirst: (_ctx, definition, current) =>
    expressionsSizeErrors(FieldPath.root("spec", "versions"), definition.spec?.versions, current?.spec?.versions),

  compiles: true,
  validating: (_ctx, definition) => validatingDefinition(definition),

  warnings(_ctx, definition, current) {
    const known = current === undefined ? [] : unknownFormats(current)
    return unknownFormats(definition)
      .filter((format) => !known.includes(format))
      .map((format) => `unrecognized format ${goQuote(format)}`)
  },

  *validatingUpdate(ctx, definition, current) {
    return ctx.info.subresource === ""
      ? yield* validatingDefinitionUpdate(definition, current)
      : validateAcceptedNames(definition)
  },

  // Also of a status: what upstream's controllers say in it does not stay changed.
  async begin(ctx, definition, current) {
    // Only those of the same group, identified by their keys: parsing all definitions of a large installation takes seconds.
    const { items } = await ctx.controlPlane.store.range(storagePrefixOf(group, resource))
    const ofGroup = items.filter(({ key }) => key.endsWith(`.${definition.spec?.group ?? ""}`))
    const others = await builtIn(ctx, definitionsResource).values(ofGroup)
    definition.status = settleStatus(
      definition,
      current,
      others.map((other) => other.object() as Definition),
    )
    return nothingHeld
  },

  /** Until cleanup removes the finalizer that markDeleted adds. */
  heldBack: (definition) => (definition.metadata.finalizers ?? []).includes(cleanupFinalizer),

  markDeleted(definition) {
    const finalizers = definition.metadata.finalizers ?? []
    if (!finalizers.includes(cleanupFinalizer)) definition.metadata.finalizers = [...finalizers, cleanupFinalizer]
    definition.status = {
      ...definition.status,
      conditions: withCondition(
        definition.status?.conditions,
        {
          type: "Terminating",
          status: "True",
          reason: "InstanceDeletionPending",
          message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        },
        timestamp(),
      ),
    }
  },
}

export const customResourceDefinitions: KindExtension = { strategy, plainStatus: true }

function storageVersionOf(definition: Definition): string | undefined {
  const version = definition.spec?.versions?.find(({ storage }) => storage === true)
  return version && (version.name ?? "")
}
