// What a tenant on a real super cluster with simulated nodes deploys.

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "main", image: "busybox" }] },
})
export const statefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "database" },
  spec: {
    replicas: 2,
    serviceName: "database",
    selector: { matchLabels: { app: "database" } },
    template: template("database"),
  },
}
export const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: { selector: { matchLabels: { app: "agent" } }, template: template("agent") },
}
const ofOneRevision = {
  topologyKey: "kubernetes.io/hostname",
  labelSelector: { matchLabels: { app: "apart" } },
  matchLabelKeys: ["pod-template-hash"],
}
const apart = template("apart")
/** Whose pods of one revision are on nodes of their own. */
export const apartDeployment = (replicas: number) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "apart" },
  spec: {
    replicas,
    strategy: { rollingUpdate: { maxUnavailable: 0 } },
    selector: { matchLabels: { app: "apart" } },
    template: {
      ...apart,
      spec: {
        ...apart.spec,
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [ofOneRevision] } },
        topologySpreadConstraints: [{ ...ofOneRevision, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }],
      },
    },
  },
})

export const autoscaler = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 4,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "45m" } } }],
  },
}
