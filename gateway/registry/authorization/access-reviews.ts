// The three kinds of SubjectAccessReviews, answered by the control plane's authorizer and never stored. Source:
// k8s.io/kubernetes/pkg/registry/authorization.

import { type FieldError, FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { badRequest, invalid } from "../../../apimachinery/status.ts"
import type { Attributes } from "../../authorization/types.ts"
import type { RequestContext } from "../../request/context.ts"
import type { User } from "../../request/user.ts"
import { selectorFaults, type SelectingAttributes, understoodFields, validateSelectors } from "./selectors.ts"
import { semanticEqual } from "../validation/equality.ts"
import type { KindExtension } from "../strategy.ts"

interface ResourceAttributes extends SelectingAttributes {
  namespace?: string
  verb?: string
  group?: string
  version?: string
  resource?: string
  subresource?: string
  name?: string
}

interface NonResourceAttributes {
  path?: string
  verb?: string
}

interface ReviewSpec {
  resourceAttributes?: ResourceAttributes
  nonResourceAttributes?: NonResourceAttributes
  user?: string
  groups?: string[]
  uid?: string
  extra?: Record<string, string[]>
}

type Review = KubeObject & { spec?: ReviewSpec }

const path = FieldPath.root("spec")

export const subjectAccessReviews: KindExtension = {
  answer(ctx, object, _options, validate) {
    const errors = [...validateSpec(specOf(object)), ...validateMetadata(object)]
    return answer(ctx, object, userOf(specOf(object)), errors, validate)
  },
}

export const localSubjectAccessReviews: KindExtension = {
  async answer(ctx, object, _options, validate) {
    const spec = specOf(object)
    const errors = [...validateSpec(spec), ...validateMetadata(object, "namespace")]
    const namespace = object.metadata.namespace ?? ctx.info.namespace
    const asked = spec.resourceAttributes?.namespace ?? ""
    if (spec.resourceAttributes !== undefined && asked !== namespace) {
      errors.push(invalidValue(path.child("resourceAttributes", "namespace"), asked, "must match metadata.namespace"))
    }
    if (spec.nonResourceAttributes !== undefined) {
      errors.push(
        invalidValue(
          path.child("nonResourceAttributes"),
          asInMemory(spec.nonResourceAttributes),
          "disallowed on this kind of request",
        ),
      )
    }
    if (errors.length === 0 && ctx.info.namespace === "") throw badRequest("namespace is required on this type: ")
    return answer(ctx, object, userOf(spec), errors, validate)
  },
}

export const selfSubjectAccessReviews: KindExtension = {
  answer(ctx, object, _options, validate) {
    const spec = specOf(object)
    const errors = [...validateAttributes(spec), ...validateSelecting(spec), ...validateMetadata(object)]
    return answer(ctx, object, ctx.user, errors, validate)
  },
}

/** Errors print Go's type in memory, whose fields have no names in JSON. */
const asInMemory = ({ path: of = "", verb = "" }: NonResourceAttributes): Json => ({ Path: of, Verb: verb })

function specOf(object: KubeObject): ReviewSpec {
  return (object as Review).spec ?? {}
}

function userOf({ user = "", groups = [], uid, extra = {} }: ReviewSpec): User {
  return { name: user, groups, extra, ...(uid === undefined ? {} : { uid }) }
}

function validateSpec(spec: ReviewSpec): FieldError[] {
  return [...validateAttributes(spec), ...validateSubject(spec), ...validateSelecting(spec)]
}

function validateSelecting({ resourceAttributes }: ReviewSpec): FieldError[] {
  return resourceAttributes === undefined ? [] : validateSelectors(path.child("resourceAttributes"), resourceAttributes)
}

function validateSubject(spec: ReviewSpec): FieldError[] {
  return !spec.user && (spec.groups ?? []).length === 0
    ? [invalidValue(path.child("user"), spec.user ?? "", "at least one of user or group must be specified")]
    : []
}

/** A review must not have metadata. */
function validateMetadata({ metadata }: KubeObject, except?: "namespace"): FieldError[] {
  const { managedFields: _, namespace, ...rest } = metadata
  const given = except === undefined ? { ...rest, ...(namespace ? { namespace } : {}) } : rest
  const text = `must be empty${except === undefined ? "" : ` except for ${except}`}`
  return semanticEqual(given, {}) ? [] : [invalidValue(FieldPath.root("metadata"), metadata, text)]
}

function validateAttributes(spec: ReviewSpec): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    return [
      invalidValue(
        path.child("nonResourceAttributes"),
        asInMemory(nonResourceAttributes),
        "cannot be specified in combination with resourceAttributes",
      ),
    ]
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return []
  return [
    invalidValue(
      path.child("resourceAttributes"),
      null,
      "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    ),
  ]
}

async function answer(
  ctx: RequestContext,
  object: KubeObject,
  user: User,
  errors: FieldError[],
  validate: () => Promise<void>,
): Promise<KubeObject> {
  const spec = specOf(object)
  if (errors.length > 0) {
    // Upstream reports errors for a form of the object without its kind.
    throw invalid({ group: "authorization.k8s.io", kind: "" }, "", errors)
  }
  await validate()
  const { decision, reason } = await ctx.controlPlane.authorizer.authorize(attributesOf(spec, user))
  const status: Record<string, unknown> = { allowed: decision === "Allow" }
  if (decision === "Deny") status["denied"] = true
  if (reason !== "") status["reason"] = reason
  const unseen = selectorFaults(spec.resourceAttributes ?? {})
  if (unseen !== "") status["evaluationError"] = unseen
  return { ...object, status }
}

function attributesOf(
  { resourceAttributes: resource, nonResourceAttributes: other }: ReviewSpec,
  user: User,
): Attributes {
  return {
    user,
    verb: resource?.verb ?? other?.verb ?? "",
    isResourceRequest: resource !== undefined,
    path: other?.path ?? "",
    group: resource?.group ?? "",
    version: resource?.version ?? "",
    resource: resource?.resource ?? "",
    subresource: resource?.subresource ?? "",
    namespace: resource?.namespace ?? "",
    name: resource?.name ?? "",
    fieldSelector: understoodFields(resource ?? {}),
  }
}
