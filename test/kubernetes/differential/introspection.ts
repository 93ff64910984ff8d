// What kube-apiserver tells of itself to who may ask, and nobody tells here, with the reason.

const ofTheProcess = "the process is everybody's: a tenant may not look into it"
const ofItsParts = "a check of a part that is not here: those of what is here are ping, etcd and etcd-readiness"
const ofQueues = "levels have no queues of their own; /metrics tells what became of each one's requests"

export const leftOut: Readonly<Record<string, string>> = {
  "/statusz": "for people who debug a program; what of it is a tenant's is in /version and /metrics",
  "/flagz": "a tenant is not started with flags",
  "/debug/pprof/": ofTheProcess,
  "/debug/pprof/heap": ofTheProcess,
  "/debug/flags": ofTheProcess,
  "/debug/api_priority_and_fairness/dump_priority_levels": ofQueues,
  "/debug/api_priority_and_fairness/dump_queues": ofQueues,
  "/debug/api_priority_and_fairness/dump_requests": ofQueues,
  "/healthz/log": ofItsParts,
  "/livez/poststarthook/start-system-namespaces-controller": ofItsParts,
  "/readyz/informer-sync": ofItsParts,
  "/readyz/shutdown": ofItsParts,
}

/** Both answer alike. */
export const alike: readonly string[] = [
  "/logs",
  "/logs/",
  "/debug/api_priority_and_fairness/",
  "/livez",
  "/livez?exclude=none",
  "/livez/ping",
  "/readyz/etcd",
  "/readyz/etcd-readiness",
  "/readyz/none",
  "/healthz/etcd",
  "/healthz/etcd-readiness",
  "/healthz/",
  "/swagger.json",
  "/metrics/none",
]
