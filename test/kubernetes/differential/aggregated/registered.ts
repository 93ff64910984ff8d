// Steps that register a server of an aggregated API.

import type { JsonObject } from "../generate/objects.ts"
import { get, post, remove, type RequestStep } from "../scenario.ts"

export const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"
export const group = "@{id}.example.com"

/** A Service that leads to loopback. */
export function leading(name: string, namespace: string): RequestStep {
  return post(
    `/api/v1/namespaces/${namespace}/services`,
    { metadata: { name }, spec: { type: "ExternalName", externalName: "localhost" } },
    { label: `POST service ${name}` },
  )
}

export const service = (): RequestStep => leading("external", "@{ns}")

export function registered(version: string, port: number, more: JsonObject = {}): RequestStep {
  return post(
    apiServices,
    {
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        insecureSkipTLSVerify: true,
        service: { namespace: "@{ns}", name: "external", port },
        ...more,
      },
    },
    { label: `WRITE ${version}` },
  )
}

export function unregistered(version: string): RequestStep {
  return remove(`${apiServices}/${version}.${group}`, undefined, { label: `WRITE no ${version}` })
}

/** Until its condition has one of these texts. */
export function until(version: string, ...texts: string[]): RequestStep {
  return get(`${apiServices}/${version}.${group}`, {
    untilText: texts,
    label: `GET ${version} until ${texts.join(" or ")}`,
  })
}
