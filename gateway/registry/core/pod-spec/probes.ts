// Probes and life cycle handlers. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { messages, nonNegative, portNumber, portNumberOrName } from "../../validation/values.ts"
import type { Container, LifecycleHandler, Probe } from "./types.ts"

type Handler = Pick<LifecycleHandler, "exec" | "httpGet" | "tcpSocket" | "sleep"> & Pick<Probe, "grpc">

export function validateProbes(path: FieldPath, container: Container, graceSeconds: number | undefined): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = container
  const errors = [
    ...validateProbe(path.child("livenessProbe"), livenessProbe, graceSeconds),
    ...mustSucceedOnce(path.child("livenessProbe"), livenessProbe),
    ...validateProbe(path.child("readinessProbe"), readinessProbe, graceSeconds),
  ]
  if (readinessProbe?.terminationGracePeriodSeconds !== undefined) {
    errors.push(
      invalidValue(
        path.child("readinessProbe", "terminationGracePeriodSeconds"),
        readinessProbe.terminationGracePeriodSeconds,
        "must not be set for readinessProbes",
      ),
    )
  }
  errors.push(...validateProbe(path.child("startupProbe"), startupProbe, graceSeconds))
  errors.push(...mustSucceedOnce(path.child("startupProbe"), startupProbe))
  return errors
}

function mustSucceedOnce(path: FieldPath, probe: Probe | undefined): FieldError[] {
  return probe === undefined || probe.successThreshold === 1
    ? []
    : [invalidValue(path.child("successThreshold"), probe.successThreshold, "must be 1")]
}

function validateProbe(path: FieldPath, probe: Probe | undefined, graceSeconds: number | undefined): FieldError[] {
  if (probe === undefined) return []
  const errors = [
    ...validateHandler(path, probe, graceSeconds),
    ...nonNegative(path.child("initialDelaySeconds"), probe.initialDelaySeconds),
    ...nonNegative(path.child("timeoutSeconds"), probe.timeoutSeconds),
    ...nonNegative(path.child("periodSeconds"), probe.periodSeconds),
    ...nonNegative(path.child("successThreshold"), probe.successThreshold),
    ...nonNegative(path.child("failureThreshold"), probe.failureThreshold),
  ]
  const own = probe.terminationGracePeriodSeconds
  if (own !== undefined && own <= 0) {
    errors.push(invalidValue(path.child("terminationGracePeriodSeconds"), own, "must be greater than 0"))
  }
  return errors
}

export function validateLifecycle(
  path: FieldPath,
  lifecycle: NonNullable<Container["lifecycle"]>,
  graceSeconds: number | undefined,
  os: string | undefined,
): FieldError[] {
  const errors: FieldError[] = []
  if (lifecycle.postStart !== undefined) {
    errors.push(...validateHandler(path.child("postStart"), lifecycle.postStart, graceSeconds))
  }
  if (lifecycle.preStop !== undefined) {
    errors.push(...validateHandler(path.child("preStop"), lifecycle.preStop, graceSeconds))
  }
  const signal = lifecycle.stopSignal
  if (signal !== undefined && os === undefined) {
    errors.push(forbiddenField(path.child("stopSignal"), "may not be set for containers with empty `spec.os.name`"))
  } else if (signal !== undefined && os === "windows" && signal !== "SIGKILL" && signal !== "SIGTERM") {
    errors.push(notSupported(path.child("stopSignal"), signal, ["SIGKILL", "SIGTERM"]))
  }
  return errors
}

function validateHandler(path: FieldPath, handler: Handler, graceSeconds: number | undefined): FieldError[] {
  const errors: FieldError[] = []
  let handlers = 0
  for (const [name, check] of checks) {
    const value = handler[name]
    if (value === undefined) continue
    if (handlers++ > 0) errors.push(forbiddenField(path.child(name), "may not specify more than 1 handler type"))
    else errors.push(...check(path.child(name), handler, graceSeconds))
  }
  if (handlers === 0) errors.push(required(path, "must specify a handler type"))
  return errors
}

type Check = (path: FieldPath, handler: Handler, graceSeconds: number | undefined) => FieldError[]

const checks: readonly [keyof Handler, Check][] = [
  ["exec", (path, { exec }) => ((exec?.command ?? []).length === 0 ? [required(path.child("command"))] : [])],
  ["httpGet", validateHTTPGet],
  ["tcpSocket", (path, { tcpSocket }) => portNumberOrName(path.child("port"), tcpSocket?.port)],
  ["grpc", (path, { grpc }) => portNumber(path.child("port"), grpc?.port ?? 0)],
  ["sleep", validateSleep],
]

function validateHTTPGet(path: FieldPath, { httpGet }: Handler): FieldError[] {
  const errors = portNumberOrName(path.child("port"), httpGet?.port)
  if (httpGet?.scheme !== "HTTP" && httpGet?.scheme !== "HTTPS") {
    errors.push(notSupported(path.child("scheme"), httpGet?.scheme ?? "", ["HTTP", "HTTPS"]))
  }
  for (const { name } of httpGet?.httpHeaders ?? []) {
    if (!/^[-A-Za-z0-9]+$/.test(name ?? "")) {
      errors.push(
        ...messages(path.child("httpHeaders"), name ?? "", [
          "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
        ]),
      )
    }
  }
  return errors
}

function validateSleep(path: FieldPath, { sleep }: Handler, graceSeconds: number | undefined): FieldError[] {
  const seconds = sleep?.seconds ?? 0
  if (graceSeconds === undefined || (seconds >= 0 && seconds <= graceSeconds)) return []
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`
  return [invalidValue(path, seconds, detail)]
}
