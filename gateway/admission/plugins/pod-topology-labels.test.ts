import { expect, test } from "vitest"
import type { KubeObject, Pod } from "../../../apimachinery/object.ts"
import { nodes, pods } from "../../../client/resources.ts"
import { startTestGateway } from "../../testing/start-gateway.ts"

const zone = { "topology.kubernetes.io/zone": "z1" }
const region = { "topology.kubernetes.io/region": "r1" }

test("a pod gets the zone and region of its node when it is bound, or created with a node", async () => {
  await using gateway = await startTestGateway()
  await gateway.createTenant("a")
  const client = gateway.gateway.tenants.client("a")
  const pod = (name: string, spec: object): KubeObject =>
    ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default", labels: { app: "web", ...zone, "topology.kubernetes.io/zone": "own" } },
      spec: { containers: [{ name: "c", image: "i" }], ...spec },
    }) as KubeObject
  const labels = { ...zone, ...region, "example.com/other": "x" }
  await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n", labels } })
  const made = await client.create<Pod>(pods, pod("made", { nodeName: "n" }) as Pod)
  expect(made.metadata.labels).toEqual({ app: "web", ...zone, ...region })
  await client.create(pods, pod("bound", {}))
  const target = { apiVersion: "v1", kind: "Node", name: "n" }
  const metadata = { namespace: "default", name: "bound" }
  await client.create(pods, { apiVersion: "v1", kind: "Binding", metadata, target } as KubeObject, {
    subresource: "binding",
  })
  const bound = await client.get<Pod>(pods, "default", "bound")
  expect(bound.metadata.labels).toEqual({ app: "web", ...zone, ...region })
  const elsewhere = await client.create<Pod>(pods, pod("elsewhere", { nodeName: "unknown" }) as Pod)
  expect(elsewhere.metadata.labels).toEqual({ app: "web", "topology.kubernetes.io/zone": "own" })
})
