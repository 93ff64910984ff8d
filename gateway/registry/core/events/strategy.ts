// Events of both groups. They are stored as core/v1 events and served in both forms. Source:
// k8s.io/kubernetes/pkg/registry/core/event.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Subdomain,
  validatePathSegmentName,
  validateQualifiedName,
} from "../../../../apimachinery/names.ts"
import { validateObjectMeta } from "../../../../apimachinery/object-meta.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { isGivenZeroTime } from "../../../../apimachinery/schema/decode/given.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { immutable, messages } from "../../validation/values.ts"

interface Reference {
  kind?: string
  namespace?: string
  name?: string
  uid?: string
  apiVersion?: string
  resourceVersion?: string
  fieldPath?: string
}

interface Event extends KubeObject {
  /** core/v1. */
  involvedObject?: Reference
  /** events.k8s.io/v1. */
  regarding?: Reference
  reason?: string
  message?: string
  note?: string
  type?: string
  action?: string
  eventTime?: string | null
  reportingComponent?: string
  reportingController?: string
  reportingInstance?: string
  source?: { component?: string; host?: string }
  deprecatedSource?: { component?: string; host?: string }
}

const maxLength = 128
const maxNote = 1024

const strategy: Strategy<Event> = {
  defaultPropagation: "None",

  // The stricter rules of events.k8s.io for names of new events are in validateNew.
  nameRule: validatePathSegmentName,
  generation: false,
  allowCreateOnUpdate: true,
  metadataLast: true,

  default(event) {
    if (event.apiVersion !== "v1") return
    event.involvedObject ??= {}
    event.source ??= {}
    event.reportingComponent ??= ""
    event.reportingInstance ??= ""
    for (const time of ["firstTimestamp", "lastTimestamp", "eventTime"]) event[time] ??= null
  },

  validate: (_ctx, event) => [...validate(event), ...(event.apiVersion === "v1" ? [] : validateNew(event))],
  validateUpdate: (_ctx, event, current) => [
    ...validate(event),
    ...(event.apiVersion === "v1" ? [] : validateChange(event, current)),
  ],

  selectableFields(event) {
    const object = event.involvedObject ?? event.regarding ?? {}
    const source = event.source ?? event.deprecatedSource
    const controller = event.reportingComponent ?? event.reportingController ?? ""
    return {
      "involvedObject.kind": object.kind ?? "",
      "involvedObject.namespace": object.namespace ?? "",
      "involvedObject.name": object.name ?? "",
      "involvedObject.uid": object.uid ?? "",
      "involvedObject.apiVersion": object.apiVersion ?? "",
      "involvedObject.resourceVersion": object.resourceVersion ?? "",
      "involvedObject.fieldPath": object.fieldPath ?? "",
      reason: event.reason ?? "",
      reportingComponent: controller,
      source: source?.component || controller,
      type: event.type ?? "",
    }
  },
}

export const events: KindExtension = { strategy }

function validate(event: Event): FieldError[] {
  const { namespace = "" } = event.metadata
  const faults = validateDNS1123Subdomain(namespace)
  return [...validateContents(event, namespace), ...messages(FieldPath.root("namespace"), namespace, faults)]
}

function validateContents(event: Event, namespace: string): FieldError[] {
  const core = event.apiVersion === "v1"
  const about = (core ? event.involvedObject : event.regarding)?.namespace ?? ""
  const at = FieldPath.root("involvedObject", "namespace")
  const mismatch = invalidValue(at, about, "does not match event.namespace")
  if (!isGivenTime(event, "eventTime")) {
    const errors: FieldError[] = []
    const fits = about === "" ? namespace === "default" || namespace === "" : about === namespace
    if (!fits) errors.push(mismatch)
    return errors
  }
  const errors = about === "" && namespace !== "default" && namespace !== "kube-system" ? [mismatch] : []
  const controllerPath = FieldPath.root(core ? "reportingComponent" : "reportingController")
  const controller = (core ? event.reportingComponent : event.reportingController) ?? ""
  if (controller === "") errors.push(required(controllerPath))
  errors.push(...messages(controllerPath, controller, validateQualifiedName(controller)))
  errors.push(...bounded("reportingInstance", event.reportingInstance, true, maxLength))
  errors.push(...bounded("action", event.action, true, maxLength))
  errors.push(...bounded("reason", event.reason, true, maxLength))
  errors.push(...bounded("message", event.message ?? event.note, false, maxNote))
  return errors
}

/** Rules for new events in events.k8s.io but not in core/v1. */
function validateNew(event: Event): FieldError[] {
  const errors = [
    ...validateObjectMeta(event.metadata, { namespaced: true, nameRule: validateDNS1123Subdomain }),
    ...validateSeries(event),
  ]
  if (!isGivenTime(event, "eventTime")) errors.push(required(FieldPath.root("eventTime")))
  errors.push(...validateType(event))
  const old = {
    firstTimestamp: isGivenTime(event, "deprecatedFirstTimestamp"),
    lastTimestamp: isGivenTime(event, "deprecatedLastTimestamp"),
    count: event["deprecatedCount"],
    source: event.deprecatedSource?.component || event.deprecatedSource?.host,
  }
  for (const [field, value] of Object.entries(old)) {
    if (value) errors.push(invalidValue(FieldPath.root(field), "", "needs to be unset"))
  }
  return errors
}

/** A time that is not set counts if the request has it. */
function isGivenTime(holder: object, field: string): boolean {
  return Boolean((holder as Record<string, unknown>)[field]) || isGivenZeroTime(holder, field)
}

/** Immutable fields; only the series may change. Errors use the names of core/v1. */
const lasting: Readonly<Record<string, string>> = dictionary({
  involvedObject: "regarding",
  reason: "reason",
  message: "note",
  source: "deprecatedSource",
  firstTimestamp: "deprecatedFirstTimestamp",
  lastTimestamp: "deprecatedLastTimestamp",
  count: "deprecatedCount",
  type: "type",
  eventTime: "eventTime",
  action: "action",
  related: "related",
  reportingController: "reportingController",
  reportingInstance: "reportingInstance",
})

/** The values of fields that are absent, if Go has no null for them. */
const zeros: Readonly<Record<string, string | number>> = dictionary({
  reason: "",
  note: "",
  deprecatedCount: 0,
  type: "",
  action: "",
  reportingController: "",
  reportingInstance: "",
})

function validateChange(event: Event, current: Event): FieldError[] {
  const errors = isSame(event["series"], current["series"]) ? [] : validateSeries(event)
  for (const [shown, field] of Object.entries(lasting)) {
    const [value, before] = [event[field] ?? zeros[field], current[field] ?? zeros[field]]
    if (!isSame(value, before)) errors.push(invalidValue(FieldPath.root(shown), value, immutable))
  }
  return errors
}

/** An empty value differs from an absent one. */
function isSame(value: unknown, before: unknown): boolean {
  return (value === undefined) === (before === undefined) && semanticEqual(value, before)
}

function validateSeries(event: Event): FieldError[] {
  const series = event["series"] as { count?: number; lastObservedTime?: string | null } | undefined
  if (series === undefined) return []
  return [
    ...((series.count ?? 0) < 2 ? [invalidValue(FieldPath.root("series.count"), "", "should be at least 2")] : []),
    ...(isGivenTime(series, "lastObservedTime") ? [] : [required(FieldPath.root("series.lastObservedTime"))]),
  ]
}

function validateType({ type = "" }: Event): FieldError[] {
  return type === "Normal" || type === "Warning"
    ? []
    : [invalidValue(FieldPath.root("type"), "", `has invalid value: ${type}`)]
}

function bounded(field: string, value: string | undefined, needed: boolean, max: number): FieldError[] {
  const path = FieldPath.root(field)
  if (!value) return needed ? [required(path)] : []
  return Buffer.byteLength(value) > max ? [invalidValue(path, "", `can have at most ${max} characters`)] : []
}
