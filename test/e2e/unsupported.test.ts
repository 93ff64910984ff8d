// References in a tenant's objects that the super cluster does not support: reported on the object, and nothing is created there.
// The syncer makes this decision, so a real super cluster behaves the same.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

let up: Polyplane

beforeAll(async () => {
  up = await startPolyplane()
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

const pod = (spec: object) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "bad" },
  spec: { containers: [{ name: "main", image: "nginx" }], ...spec },
})

describe("features that the super cluster does not offer", () => {
  const claim = (spec: object) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "bad" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  })
  const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" }
  const bundle = { name: "b", path: "ca.crt" }
  const cases: { what: string; object: { kind: string }; message?: RegExp }[] = [
    {
      what: "devices",
      object: pod({ resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpus" }] }),
      message: /^spec\.resourceClaims: .*resources\.limits$/m,
    },
    { what: "a snapshot", object: claim({ dataSource: snapshot }), message: /^spec\.dataSource: a VolumeSnapshot/m },
    {
      what: "attributes of a volume",
      object: claim({ volumeAttributesClassName: "gold" }),
      message: /^spec\.volumeAttributesClassName: /m,
    },
    {
      what: "a class that tenants are not offered",
      object: claim({ storageClassName: "private" }),
      message: /^spec\.storageClassName: "private" is not/m,
    },
    // Fields of features that are disabled by default: they are dropped, as by kube-apiserver.
    {
      what: "a bundle of certificates",
      object: pod({ volumes: [{ name: "v", projected: { sources: [{ clusterTrustBundle: bundle }] } }] }),
    },
  ]

  test("external IPs of a Service are reported and omitted", async () => {
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "outside" },
      spec: { externalIPs: ["192.0.2.7"], ports: [{ port: 80 }] },
    }
    await up.kubectl(["create", "-f", "-"], { input: JSON.stringify(service) })
    const change = JSON.stringify({ spec: { ports: [{ port: 81 }] } })
    await up.kubectl(["patch", "service", "outside", "--type=merge", "-p", change])
    const told = ["get", "events", "--field-selector", "reason=FailedSync,involvedObject.name=outside"]
    await eventually(
      async () => /^spec\.externalIPs: /m.test(await up.kubectl([...told, "-o", "jsonpath={.items[*].message}"])),
      { what: "an event about spec.externalIPs" },
    )
    const everywhere = ["get", "services", "-A", "--field-selector", "metadata.name=outside", "-o", "json"]
    const { items } = JSON.parse(await up.kubectl(everywhere, { kubeconfig: "admin" })) as { items: { spec: object }[] }
    const address = (await up.kubectl(["get", "service", "outside", "-o", "jsonpath={.spec.clusterIP}"])).trim()
    expect(items).toMatchObject([{ spec: { clusterIP: address, ports: [{ port: 81 }] } }])
    expect(items[0]?.spec).not.toHaveProperty("externalIPs")
  })

  beforeAll(async () => {
    const hidden = {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "private" },
      provisioner: "p",
    }
    await up.kubectl(["create", "-f", "-"], { kubeconfig: "admin", input: JSON.stringify(hidden) })
  })

  test.each(cases)("$what: is reported on the object, and nothing is created", async ({ object, message }) => {
    const resource = `${object.kind.toLowerCase()}s`
    const copies = async () => (await up.kubectl(["get", resource, "-A", "-o", "name"], { kubeconfig: "admin" })).trim()
    await up.kubectl(["create", "--validate=false", "-f", "-"], { input: JSON.stringify(object) })
    if (message === undefined) {
      expect(await up.kubectl(["get", resource, "bad", "-o", "json"])).not.toContain("clusterTrustBundle")
    } else {
      const told = ["get", "events", "--field-selector", `reason=FailedSync,involvedObject.kind=${object.kind}`]
      await eventually(
        async () => message.test(await up.kubectl([...told, "-o", "jsonpath={range .items[*]}{.message}{'\\n'}{end}"])),
        {
          what: `an event like ${message.source}`,
        },
      )
      expect(await copies()).toBe("")
    }
    await up.kubectl(["delete", resource, "bad", "--timeout=60s"])
    await eventually(async () => (await copies()) === "", { what: "nothing is left of it" })
  })
})
