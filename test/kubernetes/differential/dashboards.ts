// The metrics of kube-apiserver and kube-controller-manager used by dashboards, recording rules and alerts of kubernetes-mixin
// and of widely used charts, and where they are available here: in a tenant, in the gateway (for the process and all tenants), or
// nowhere, because they would be misleading.

export type Place = "tenant" | "gateway"

interface Shown {
  name: string
  places: readonly Place[]
}

const of = (places: readonly Place[], names: readonly string[]): Shown[] => names.map((name) => ({ name, places }))

export const shown: readonly Shown[] = [
  ...of(
    ["tenant", "gateway"],
    [
      "apiserver_request_total",
      "apiserver_request_duration_seconds",
      "apiserver_request_sli_duration_seconds",
      "apiserver_request_terminations_total",
      "apiserver_response_sizes",
      "apiserver_current_inflight_requests",
      "apiserver_longrunning_requests",
      "apiserver_requested_deprecated_apis",
      "apiserver_client_certificate_expiration_seconds",
      "apiserver_watch_events_total",
      "apiserver_watch_events_sizes",
      "apiserver_admission_step_admission_duration_seconds",
      "apiserver_flowcontrol_current_executing_requests",
      "apiserver_flowcontrol_current_executing_seats",
      "apiserver_flowcontrol_current_inqueue_requests",
      "apiserver_flowcontrol_dispatched_requests_total",
      "apiserver_flowcontrol_nominal_limit_seats",
      "apiserver_flowcontrol_request_wait_duration_seconds",
      "aggregator_unavailable_apiservice",
      "authenticated_user_requests",
      "authentication_attempts",
      "authorization_attempts_total",
      "kubernetes_build_info",
      "process_start_time_seconds",
    ],
  ),
  ...of(
    ["gateway"],
    [
      "workqueue_adds_total",
      "workqueue_depth",
      "workqueue_longest_running_processor_seconds",
      "workqueue_queue_duration_seconds",
      "workqueue_retries_total",
      "workqueue_unfinished_work_seconds",
      "workqueue_work_duration_seconds",
      "rest_client_requests_total",
      "rest_client_request_duration_seconds",
      "rest_client_request_size_bytes",
      "rest_client_response_size_bytes",
      "process_cpu_seconds_total",
      "process_resident_memory_bytes",
      "process_virtual_memory_bytes",
      "process_open_fds",
      "process_max_fds",
    ],
  ),
]

/** Metrics of kube-apiserver that do not exist here. */
export const leftOut: Readonly<Record<string, string>> = {
  apiserver_admission_controller_admission_duration_seconds:
    "plugins are not timed one by one: there are twenty, and looking at a clock costs as much as most of them",
  apiserver_flowcontrol_current_limit_seats: "levels do not borrow from each other: they share a tenant's places",
  apiserver_flowcontrol_demand_seats: "levels do not borrow from each other: they share a tenant's places",
  apiserver_resource_objects: "counting the objects of a store costs a scan over its keys at each scrape",
  apiserver_storage_objects: "counting the objects of a store costs a scan over its keys at each scrape",
  apiserver_storage_size_bytes: "there is no etcd whose size it would be",
  authentication_duration_seconds: "no dashboard asks: a clock would be looked at twice more for each request",
  authorization_duration_seconds: "no dashboard asks: a clock would be looked at twice more for each request",
  etcd_request_duration_seconds: "there is no etcd between a tenant and its store",
  go_goroutines: "there are none",
}
