// What a tenant on real nodes deploys.

export const image = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"

export const autoscaler = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "busy" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "busy" },
    maxReplicas: 2,
    metrics: [
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 100 } } },
    ],
  },
}
const labels = { app: "web" }
export const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", labels },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 1,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: labels },
          },
        ],
        containers: [
          {
            name: "web",
            image,
            args: ["netexec", "--http-port=8080"],
            ports: [{ containerPort: 8080 }],
            readinessProbe: { httpGet: { path: "/hostname", port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
}

const pausing = { name: "main", image, args: ["pause"] }
export const ownPod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "here" },
  spec: {
    nodeName: "own1",
    terminationGracePeriodSeconds: 2,
    containers: [
      {
        ...pausing,
        volumeMounts: [{ name: "words", mountPath: "/words" }],
      },
    ],
    volumes: [{ name: "words", configMap: { name: "words" } }],
  },
}
export const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "everywhere" },
  spec: {
    selector: { matchLabels: { app: "everywhere" } },
    template: {
      metadata: { labels: { app: "everywhere" } },
      spec: { terminationGracePeriodSeconds: 1, containers: [pausing] },
    },
  },
}
