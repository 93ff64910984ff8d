// Converts custom resources between versions by a webhook: all objects of a read in one ConversionReview. In metadata a webhook can
// change only labels and annotations. Source: k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go.

import { randomUUID } from "node:crypto"
import { type Json, type KubeObject, type ObjectMeta, printGroupVersion } from "../../../apimachinery/object.ts"
import { applyDefaults } from "../../../apimachinery/schema/defaults.ts"
import { decodeObject } from "../../../apimachinery/schema/decode/decode.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import { unexplained } from "../../../apimachinery/status.ts"
import type { WebhookClientConfig } from "../../backends/webhook-client.ts"
import type { Conversion } from "../../registry/rest.ts"

/** POSTs a review and returns the response. Throws an Error with the reason. */
export type CallConversionWebhook = (config: WebhookClientConfig, review: Json) => Promise<Json>

export interface WebhookConversionParts {
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

export function webhookConversion(parts: WebhookConversionParts): Conversion {
  const { group, version, storageVersion } = parts
  return {
    fromStored: (objects) => convert(parts, objects, group, version),
    async toStored(object) {
      const [stored] = await convert(parts, [object], group, storageVersion)
      return stored ?? object
    },
  }
}

/** Objects that already have the wanted version are unchanged. */
async function convert(
  parts: WebhookConversionParts,
  objects: readonly KubeObject[],
  group: string,
  version: string,
): Promise<readonly KubeObject[]> {
  const wanted = printGroupVersion({ group, version })
  const foreign = objects.filter(({ apiVersion }) => apiVersion !== wanted)
  const [first] = foreign
  if (first === undefined) return objects
  const about = `conversion webhook for ${first.apiVersion}, Kind=${first.kind}`
  const converted = await ask(parts, foreign, wanted, about)
  const schema = parts.schemaOf(version)
  const results = foreign.map((object, index) => {
    const result = checked(object, converted[index], wanted, places(about, objects.length === 1, index))
    decodeObject(schema, result as unknown as Json, false) // drops fields that the version's schema does not contain
    applyDefaults(schema, result as unknown as Json)
    return result
  })
  const next = results[Symbol.iterator]()
  return objects.map((object) => (object.apiVersion === wanted ? object : (next.next().value ?? object)))
}

async function ask(
  { config, reviewVersions, call }: WebhookConversionParts,
  objects: readonly KubeObject[],
  desiredAPIVersion: string,
  about: string,
): Promise<unknown[]> {
  const version = reviewVersions.find((candidate) => candidate === "v1" || candidate === "v1beta1")
  if (version === undefined) throw unexplained("no supported conversion review versions")
  const uid = randomUUID()
  const review = {
    kind: "ConversionReview",
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion, objects },
  }
  let converted: unknown[]
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

interface ReviewAnswer {
  kind?: string
  apiVersion?: string
  response?: {
    uid?: string
    result?: { status?: string; message?: string }
    convertedObjects?: unknown[]
  } | null
}

function readReview(answer: Json, version: string, uid: string): unknown[] {
  const { kind = "", apiVersion = "", response } = (answer ?? {}) as ReviewAnswer
  if (version === "v1" && (kind !== "ConversionReview" || apiVersion !== "apiextensions.k8s.io/v1")) {
    const given = apiVersion.includes("/") ? apiVersion : `/${apiVersion}` // Go's format of a kind without a group
    throw new Error(
      `expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ${given}, Kind=${kind}`,
    )
  }
  if (response === undefined || response === null) throw new Error("no response provided")
  if (version === "v1" && response.uid !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`)
  }
  const { status = "", message } = response.result ?? {}
  if (status !== "Success") throw new Error(message || `response.result.status was '${status}', not 'Success'`)
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : []
}

/** The beginnings of error messages about a response: for a single object, upstream's are shorter. */
interface Places {
  form: string
  object: string
  metadata: string
}

function places(about: string, single: boolean, index: number): Places {
  const invalid = `${about} returned invalid`
  return single
    ? { form: `${invalid} object at index 0`, object: `${invalid} object`, metadata: `${invalid} metadata` }
    : {
        form: `${invalid} converted object at index ${index}`,
        object: `${invalid} converted object at index ${index}`,
        metadata: `${invalid} metadata in object at index ${index}`,
      }
}

/** Verifies that it is the same object, and restores the server's part of metadata. */
function checked(original: KubeObject, given: unknown, wanted: string, at: Places): KubeObject {
  if (!isMapping(given)) throw unexplained(`${at.form}: Object 'Kind' is missing`)
  const converted = given as unknown as KubeObject
  if (converted.apiVersion !== wanted) {
    throw unexplained(`${at.form}: invalid groupVersion (expected ${wanted}, received ${converted.apiVersion ?? ""})`)
  }
  if (converted.kind !== original.kind) {
    throw unexplained(`${at.form}: invalid kind (expected ${original.kind}, received ${converted.kind ?? ""})`)
  }
  const { metadata } = given
  const own = (isMapping(metadata) ? metadata : {}) as ObjectMeta
  for (const [field, name] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const [before = "", after = ""] = [original.metadata[field], own[field]]
    if (before !== after) throw unexplained(`${at.object}: must have the same ${name}: ${before} != ${after}`)
  }
  converted.metadata = restored(original.metadata, own, at.metadata)
  return converted
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function restored(original: ObjectMeta, given: ObjectMeta, invalid: string): ObjectMeta {
  const { labels: _labels, annotations: _annotations, ...kept } = structuredClone(original)
  const metadata: ObjectMeta = kept
  for (const field of ["labels", "annotations"] as const) {
    const texts: unknown = given[field]
    if (texts === undefined || texts === null) continue
    if (!isMapping(texts)) throw unexplained(`${invalid}: invalid metadata.${field}`)
    for (const [key, value] of Object.entries(texts)) {
      if (typeof value !== "string") {
        throw unexplained(
          `${invalid}: metadata.${field}[${key}] must be a string, but is ${typeof value} in converted object`,
        )
      }
    }
    metadata[field] = texts as Record<string, string>
  }
  return metadata
}
