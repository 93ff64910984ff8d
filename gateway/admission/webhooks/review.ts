// AdmissionReview: the request to a webhook and its response. Source:
// k8s.io/apiserver/pkg/admission/plugin/webhook/request/admissionreview.go.

import { randomUUID } from "node:crypto"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import type { Status } from "../../../apimachinery/status.ts"
import { reviewFault } from "../../backends/review-fault.ts"
import { reviewTypes, type ReviewVersion, statusType, textType } from "../../backends/review-types.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import type { User } from "../../request/user.ts"
import type { AdmissionAttributes } from "../chain.ts"
import { namespaceOf } from "./match.ts"
import { isOwnKind, shownObject } from "./versions.ts"

export interface Review {
  uid: string
  version: ReviewVersion
  body: Json
}

/** What the webhook receives: the matched version, and the object in it. */
export interface Shown {
  definition: ResourceDefinition
  object: KubeObject | undefined
  current: KubeObject | undefined
}

/** `prepare`: called before the object of the request is converted, but after the stored one is. */
export async function showAs(
  ctx: RequestContext,
  definition: ResourceDefinition,
  attributes: AdmissionAttributes,
  prepare?: () => Promise<void>,
): Promise<Shown> {
  const show = async (object: KubeObject | undefined): Promise<KubeObject | undefined> =>
    object && shownObject(ctx, object, attributes, definition)
  const current = await show(attributes.current) // first, as its fault is that which is told
  await prepare?.()
  return { definition, object: await show(attributes.object), current }
}

export interface ReviewAnswer {
  allowed: boolean
  status: Partial<Status> | undefined
  /** The text of a JSON patch; empty if there is none. */
  patch: Buffer
  patchType: string
  warnings: readonly string[]
  annotations: Readonly<Record<string, string>>
}

/** Returns undefined if the webhook supports neither version. */
export function createReview(
  versions: readonly string[],
  user: User,
  attributes: AdmissionAttributes,
  shown: Shown,
): Review | undefined {
  const version = versions.find((candidate) => candidate === "v1" || candidate === "v1beta1") as Review["version"]
  if (version === undefined) return undefined
  const uid = randomUUID()
  const { resource, subresource, kind, operation, dryRun, options } = attributes
  const { group, version: shownVersion, resource: plural } = shown.definition
  const request = {
    uid,
    kind: isOwnKind(attributes) ? { group, version: shownVersion, kind: shown.definition.kind } : kind,
    resource: { group, version: shownVersion, resource: plural },
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: kind,
    requestResource: resource,
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...text("name", attributes.name),
    ...text("namespace", namespaceOf(attributes)),
    operation,
    userInfo: userInfo(user),
    object: shown.object ?? null,
    oldObject: shown.current ?? null,
    dryRun,
    options: options ?? null,
  }
  return {
    uid,
    version,
    body: { kind: "AdmissionReview", apiVersion: `admission.k8s.io/${version}`, request } as unknown as Json,
  }
}

const text = (name: string, value: string): Record<string, string> => (value === "" ? {} : { [name]: value })

function userInfo({ name, uid, groups, extra }: User): Json {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  }
}

interface ResponseBody {
  kind?: string
  apiVersion?: string
  response?: {
    uid?: string
    allowed?: boolean
    status?: Partial<Status>
    patch?: string
    patchType?: string
    warnings?: string[]
    auditAnnotations?: Record<string, string>
  } | null
}

/** Source: k8s.io/api/admission/{v1,v1beta1}/types.go. */
const admissionReviews = reviewTypes({
  group: "admission.k8s.io",
  name: "Admission",
  types: "io.k8s.api.admission",
  response: (version) => ({
    allowed: { schema: { type: "boolean" } },
    status: { schema: statusType },
    patch: { schema: { type: "string", format: "byte" } },
    patchType: { schema: textType, goType: `${version}.PatchType` },
    auditAnnotations: { schema: { type: "map", items: textType } },
    warnings: { schema: { type: "list", items: textType } },
  }),
})

/** The decoding error of a response that is not a valid review, with upstream's message. */
export function faultOf(answer: Json, { version }: Review): string | undefined {
  return reviewFault(answer, version, admissionReviews)
}

/** Throws an Error that describes the problem of the response. */
export function readReview(answer: Json, { uid, version }: Review, mutating: boolean): ReviewAnswer {
  const { kind = "", apiVersion = "", response } = (answer ?? {}) as ResponseBody
  if (response === undefined || response === null) throw new Error("webhook response was absent")
  if (version === "v1") {
    if (response.uid !== uid) {
      throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`)
    }
    if (kind !== "AdmissionReview" || apiVersion !== "admission.k8s.io/v1") {
      const given = apiVersion.includes("/") ? apiVersion : `/${apiVersion}` // Go's format of a kind without a group
      throw new Error(
        `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${given}, Kind=${kind}`,
      )
    }
    checkPatch(response.patch ?? "", response.patchType, mutating)
  }
  return {
    allowed: response.allowed === true,
    status: response.status,
    patch: Buffer.from(mutating ? (response.patch ?? "") : "", "base64"),
    // That of v1beta1 is ignored.
    patchType: version === "v1" ? (response.patchType ?? "") : "JSONPatch",
    warnings: response.warnings ?? [],
    annotations: response.auditAnnotations ?? {},
  }
}

function checkPatch(patch: string, type: string | undefined, mutating: boolean): void {
  if (!mutating) {
    if (patch !== "") throw new Error("validating webhook may not return response.patch")
    if (type !== undefined) throw new Error("validating webhook may not return response.patchType")
    return
  }
  if (patch !== "" && type === undefined) {
    throw new Error("webhook returned response.patch but not response.patchType")
  }
  if (patch === "" && type !== undefined) {
    throw new Error("webhook returned response.patchType but not response.patch")
  }
  if (type === "") throw new Error('webhook returned invalid response.patchType of ""')
}
