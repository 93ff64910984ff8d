import { AppsV1Api, CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions, Watch } from "@kubernetes/client-node"
import { expect, test } from "vitest"
import { startControlPlane } from "./control-plane.ts"

test("@kubernetes/client-node writes, patches, lists, watches and deletes with the tenant's kubeconfig", async () => {
  await using plane = await startControlPlane()
  const config = new KubeConfig()
  config.loadFromString(plane.kubeconfig)
  const [core, apps] = [config.makeApiClient(CoreV1Api), config.makeApiClient(AppsV1Api)]
  const namespace = "default"

  const added = Promise.withResolvers<string>()
  const abort = await new Watch(config).watch(
    "/apis/apps/v1/namespaces/default/deployments",
    {},
    (type: string, object: { metadata: { name: string } }) => added.resolve(`${type} ${object.metadata.name}`),
    (error: unknown) => added.reject(error instanceof Error ? error : new Error("the watch ended")),
  )
  const labels = { app: "web" }
  const deployment = await apps.createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: "web" },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "nginx" }] } },
      },
    },
  })
  expect(deployment.spec).toMatchObject({ replicas: 1, strategy: { type: "RollingUpdate" } })
  expect(await added.promise).toBe("ADDED web")
  abort.abort()

  const scaled = await apps.patchNamespacedDeploymentScale(
    { namespace, name: "web", body: { spec: { replicas: 3 } } },
    setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
  )
  expect(scaled.spec?.replicas).toBe(3)
  expect((await apps.listNamespacedDeployment({ namespace, labelSelector: "app" })).items).toHaveLength(0)
  await apps.deleteNamespacedDeployment({ namespace, name: "web" })
  await expect(apps.readNamespacedDeployment({ namespace, name: "web" })).rejects.toMatchObject({ code: 404 })
  expect((await core.listNamespace()).items.map(({ metadata }) => metadata?.name)).toContain("default")
})
