// Converts custom resources between versions by a webhook: all objects of a read in one ConversionReview. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go, and for defaults and unknown fields
// crdConversionRESTOptionsGetter in k8s.io/apiextensions-apiserver/pkg/apiserver.

import { randomUUID } from "node:crypto"
import { copyJson } from "../../../apimachinery/copy.ts"
import { type Json, type KubeObject, parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { applyDefaults, dropNulls } from "../../../apimachinery/schema/defaults.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import { prune } from "../../../apimachinery/schema/prune.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import { unexplained } from "../../../apimachinery/status.ts"
import { reviewFault } from "../../backends/review-fault.ts"
import { reviewTypes, type ReviewVersion, statusType } from "../../backends/review-types.ts"
import type { WebhookClientConfig } from "../../backends/webhook-client.ts"
import { dropEmptyMetadata } from "../../registry/generic/metadata.ts"
import type { Conversion } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import { checkConverted } from "./converted.ts"

/** POSTs a review and returns the response. Throws an Error with the reason. */
export type CallConversionWebhook = (config: WebhookClientConfig, review: Json) => Promise<Json>

interface WebhookConversionParts {
  config: WebhookClientConfig
  reviewVersions: readonly string[]
  group: string
  /** The served and the stored version. */
  version: string
  storageVersion: string
  /** The schema of each version, served or not. */
  schemaOf: (version: string) => Schema
  call: CallConversionWebhook
}

export interface WebhookConversion extends Conversion {
  /** Does not change what the webhook returns. */
  between: (object: KubeObject, apiVersion: string) => Promise<KubeObject>
}

export function webhookConversion(parts: WebhookConversionParts): WebhookConversion {
  const { group, version, storageVersion, schemaOf } = parts
  const own = printGroupVersion({ group, version })
  const stored = printGroupVersion({ group, version: storageVersion })
  const only = async (object: KubeObject, apiVersion: string): Promise<KubeObject> =>
    (await convert(parts, [object], apiVersion))[0] ?? object
  return {
    async fromStored(objects, pause) {
      const read: KubeObject[] = []
      for await (const batch of batches(objects, schemaOf, pause)) {
        for (const object of await convert(parts, batch, own)) {
          await pause?.()
          read.push(withRevision(pruned(object, schemaOf), objects[read.length]))
        }
      }
      return read
    },
    toStored: async (object) => pruned(await only(withoutRevision(object), stored), schemaOf),
    between: only,
  }
}

type SchemaOf = (version: string) => Schema

const ownSchema = ({ apiVersion }: KubeObject, schemaOf: SchemaOf): Schema =>
  schemaOf(parseGroupVersion(apiVersion).version)

/** A copy without the fields that its version's schema does not contain, and without labels and annotations that are empty. */
function pruned(object: KubeObject, schemaOf: SchemaOf): KubeObject {
  const schema = ownSchema(object, schemaOf)
  const copy = copyJson(object)
  prune(schema, copy as unknown as Json)
  dropNulls(schema, copy as unknown as Json)
  if (isObject(copy.metadata as Json | undefined)) dropEmptyMetadata(copy)
  return copy
}

function withDefaults(object: KubeObject, schemaOf: SchemaOf): KubeObject {
  const copy = pruned(object, schemaOf)
  applyDefaults(ownSchema(object, schemaOf), copy as unknown as Json)
  return copy
}

/** What admission has patched may have metadata of any type, or none. */
function withoutRevision(object: KubeObject): KubeObject {
  if (!isObject(object.metadata as Json | undefined)) return object
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function withRevision(object: KubeObject, stored: KubeObject | undefined): KubeObject {
  const { resourceVersion } = stored?.metadata ?? {}
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
  return object
}

/** In one review. Objects that already have the wanted version are unchanged. */
async function convert(
  parts: WebhookConversionParts,
  objects: readonly KubeObject[],
  wanted: string,
): Promise<readonly KubeObject[]> {
  const foreign = objects.filter(({ apiVersion }) => apiVersion !== wanted)
  const [first] = foreign
  if (first === undefined) return objects
  const about = `conversion webhook for ${first.apiVersion}, Kind=${first.kind}`
  const converted = await ask(parts, foreign, wanted, about)
  const results = foreign.map((object, index) => checkConverted(object, converted[index] ?? null, wanted, about))
  const next = results[Symbol.iterator]()
  return objects.map((object) => (object.apiVersion === wanted ? object : (next.next().value ?? object)))
}

/** Maximum size of a review, unless a single object is longer. */
const maxReviewLength = 512 * 1024

/**
 * The objects of one review each, as they are sent: a webhook's response must not be too long, nor may a read make all of its objects
 * at once. Defaults are those of the version in which an object is stored, and its revision is not in it.
 */
async function* batches(
  objects: readonly KubeObject[],
  schemaOf: SchemaOf,
  pause: RequestContext["pause"],
): AsyncGenerator<readonly KubeObject[]> {
  let batch: KubeObject[] = []
  let length = 0
  for (const stored of objects) {
    await pause?.()
    const object = withDefaults(withoutRevision(stored), schemaOf)
    const added = JSON.stringify(object).length
    if (batch.length > 0 && length + added > maxReviewLength) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(object)
    length += added
  }
  yield batch
}

async function ask(
  { config, reviewVersions, call }: WebhookConversionParts,
  objects: readonly KubeObject[],
  desiredAPIVersion: string,
  about: string,
): Promise<Json[]> {
  const version = reviewVersions.find((candidate): candidate is ReviewVersion =>
    Object.hasOwn(conversionReviews.versions, candidate),
  )
  if (version === undefined) throw unexplained("no supported conversion review versions")
  const uid = randomUUID()
  const review = {
    kind: "ConversionReview",
    apiVersion: `${group}/${version}`,
    request: { uid, desiredAPIVersion, objects },
    // As upstream's struct, which is not a pointer.
    response: { uid: "", convertedObjects: null, result: { metadata: {} } },
  }
  let converted: Json[]
  try {
    converted = readReview(await call(config, review as unknown as Json), version, uid)
  } catch (error) {
    throw unexplained(`${about} failed: ${(error as Error).message}`, { cause: error })
  }
  if (converted.length !== objects.length) {
    throw unexplained(`${about} returned ${converted.length} objects, expected ${objects.length}`)
  }
  return converted
}

const group = "apiextensions.k8s.io"

/** Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/{v1,v1beta1}/types.go. */
const conversionReviews = reviewTypes({
  group,
  name: "Conversion",
  types: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
  response: () => ({
    convertedObjects: {
      schema: { type: "list", items: { type: "any", name: "io.k8s.apimachinery.pkg.runtime.RawExtension" } },
    },
    result: { schema: statusType },
  }),
})

interface ReviewAnswer {
  kind?: string
  apiVersion?: string
  response?: {
    uid?: string
    result?: { status?: string; message?: string }
    convertedObjects?: Json[]
  }
}

function readReview(answer: Json, version: ReviewVersion, uid: string): Json[] {
  const fault = reviewFault(answer, version, conversionReviews)
  if (fault !== undefined) throw new Error(fault)
  const { kind = "", apiVersion = "", response } = (answer ?? {}) as ReviewAnswer
  if (version === "v1" && (kind !== "ConversionReview" || apiVersion !== `${group}/v1`)) {
    const given = apiVersion.includes("/") ? apiVersion : `/${apiVersion}` // Go's format of a kind without a group
    throw new Error(`expected webhook response of ${group}/v1, Kind=ConversionReview, got ${given}, Kind=${kind}`)
  }
  if (response === undefined) throw new Error("no response provided")
  if (version === "v1" && response.uid !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`)
  }
  const { status = "", message } = response.result ?? {}
  if (status !== "Success") throw new Error(message || `response.result.status was '${status}', not 'Success'`)
  return response.convertedObjects ?? []
}
