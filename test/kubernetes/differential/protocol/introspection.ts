// Paths with which kube-apiserver reveals internals to authorized users, and which do not exist here, with the reason.

const ofTheProcess = "the process is everybody's: a tenant may not look into it"
const ofQueues = "levels have no queues of their own; /metrics tells what became of each one's requests"

export const leftOut: Readonly<Record<string, string>> = {
  "/debug/pprof/": ofTheProcess,
  "/debug/pprof/heap": ofTheProcess,
  "/debug/flags": ofTheProcess,
  "/debug/api_priority_and_fairness/dump_priority_levels": ofQueues,
  "/debug/api_priority_and_fairness/dump_queues": ofQueues,
  "/debug/api_priority_and_fairness/dump_requests": ofQueues,
}

/** Paths with the same response on both servers. */
export const alike: readonly string[] = [
  "/logs",
  "/logs/",
  "/debug/api_priority_and_fairness/",
  "/livez",
  "/livez?exclude=none",
  ...["healthz", "livez", "readyz"].flatMap((endpoint) => [
    `/${endpoint}?verbose`,
    `/${endpoint}?verbose&exclude=etcd&exclude=none&exclude=poststarthook/rbac/bootstrap-roles`,
    `/${endpoint}/log`,
    `/${endpoint}/loopback-serving-certificate`,
    `/${endpoint}/poststarthook`,
    `/${endpoint}/poststarthook/rbac/bootstrap-roles`,
    `/${endpoint}/informer-sync`,
    `/${endpoint}/shutdown`,
  ]),
  "/statusz/",
  "/flagz/x",
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
